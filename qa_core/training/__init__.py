"""The training loop, its schedules and its resumable state; training of encoders and pair classifiers."""
