"""Records and question-answer pairs in published layouts: JSON lines, TSV, SQuAD, MedQuAD, Stack Exchange."""
