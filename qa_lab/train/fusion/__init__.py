"""`train fusion`: trees that join the scores of all stages, from judged answers or from votes."""
