"""`eval papers`: the tables of the papers, a row at a time, beside the published figures."""
