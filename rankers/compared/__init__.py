"""Networks that the papers compare theirs with: each scores a pair of texts by their word vectors."""
