"""Writes triples as lines of N-Triples (W3C Recommendation of 25 February 2014)."""

from __future__ import annotations

from kg_index.building.rdf_parsing import Triple


def statement(triple: Triple) -> str:
    """One line without its end. Terms are strings: a bare IRI, `_:name` or a literal such as `"Denton"@en`."""
    subject, predicate, object_ = map(_term, triple)
    return f"{subject} {predicate} {object_} ."


def _term(term: str) -> str:
    return term if term.startswith(('"', "_:")) else f"<{term}>"
