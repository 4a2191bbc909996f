"""Random and broken input for every parser: seeds, mutations, targets, and a campaign of any length.

`python -m tests.fuzzing --seconds 600` runs the campaign (`make fuzz`); `test_targets.py` runs some inputs.
"""
