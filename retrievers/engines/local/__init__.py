"""The local engine: tantivy for keywords, FAISS for vectors, and segments of texts beside them."""
