"""How sure an answer is: calibration, its fitting, and the reasons of an abstention."""
