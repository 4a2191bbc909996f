"""Studies with people: blind forms to rate replies, and what the ratings say."""
