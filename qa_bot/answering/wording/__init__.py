"""Fixed sentences in the languages of questions: refusals, and notices above answers."""
