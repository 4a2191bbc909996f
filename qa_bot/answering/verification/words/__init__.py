"""Words of a question that a passage has, answers or lacks."""
