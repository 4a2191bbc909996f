"""`eval liveqa`: answer quality, calibration and abstention."""
