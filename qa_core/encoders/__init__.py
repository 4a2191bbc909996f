"""Encoders at query time: text to unit vectors, pairs to token ids, and the tokenisers and files behind them."""
