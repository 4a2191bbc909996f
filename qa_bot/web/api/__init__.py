"""JSON routes: ask, search, feedback, conversations, the owner's page, comparison."""
