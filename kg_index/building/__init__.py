"""Building a triple index from RDF files in bounded memory."""
