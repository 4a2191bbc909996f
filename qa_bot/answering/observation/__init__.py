"""What the stages of an answer did, for logs and traces; nothing is kept unless a caller opens a `stage_log`."""
