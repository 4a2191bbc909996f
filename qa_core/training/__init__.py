"""The training loop, its schedules and its resumable state."""
