"""Evaluation tasks, one per file: a task runs the questions of a data set and returns rows for `report`."""
