"""`train` for pair scorers: BLSTM, HyperQA, entailment, cross-encoder, encoder-decoder."""
