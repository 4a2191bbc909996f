"""Mends what `qa-bot doctor` names: the index from the store, the graph from its sources, rows from sound copies."""
