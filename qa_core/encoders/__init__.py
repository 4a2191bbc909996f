"""Encoders at query time: text to unit vectors, and the tokenisers and files behind them."""
