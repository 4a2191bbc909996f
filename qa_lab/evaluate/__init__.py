"""Evaluation: one task a file. A task asks the questions of a data set and gives rows; `report` shows them."""
