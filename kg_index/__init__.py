"""Facts from a knowledge graph: triples, the names of their entities, templates of questions, relations."""
