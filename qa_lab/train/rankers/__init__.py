"""`train blstm`, `hyperqa`, `entailment`, `cross-encoder` and `encoder-decoder`: rankers of answers and pairs."""
