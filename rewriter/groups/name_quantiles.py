"""Quantiles in SPARQL, which has no word for them: `ow:quantile(?x, 0.9)` is an aggregate."""

from collections.abc import Callable

from ontoweir.rewriter.model.query import Iri, Term
from ontoweir.rewriter.syntax.node import Node

QUANTILE = "Aggregate_Quantile"
"""The name of a quantile's node: it has `vars`, as other aggregates, and `arguments`."""
_IRI = "urn:ontoweir:quantile"


def name_quantiles(query: Node, read: Callable[[object], Term]) -> Node:
    """A query with an aggregate in the place of each call of ow:quantile.

    Args:
        query: as rdflib parsed it.
        read: reads IRIs.
    """
    made = _name(query, read)
    assert isinstance(made, Node)
    return made


def _name(node: object, read: Callable[[object], Term]) -> object:
    if isinstance(node, Node):
        parts = {key: _name(part, read) for key, part in node.items()}
        if node.name == "Function" and read(node["iri"]) == Iri(_IRI):
            given = parts.get("expr") or [None]
            distinct = parts.get("distinct", [])
            assert isinstance(given, list)
            return Node(QUANTILE, distinct=distinct, vars=given[0], arguments=given[1:])
        return Node(node.name, **parts)
    if isinstance(node, list):
        return [_name(part, read) for part in node]
    return node
