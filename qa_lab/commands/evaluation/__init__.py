"""`qa-bot eval`: a command for each task, with the options of that task."""
