"""Learning from people: votes, interleaving, the owner's answers, blind comparison."""
