"""Values: literals of a graph, and the numbers, dates and measures in a question that are compared with them."""
