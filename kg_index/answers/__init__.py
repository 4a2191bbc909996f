"""From a question to facts: interpretations, their values and units, and sentences that state the fact."""
