"""The lead of an answer: which stretch of a passage answers, and the page or row that it cites."""
