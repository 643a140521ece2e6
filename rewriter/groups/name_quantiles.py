"""Quantiles in SPARQL, which has no word for them: `ow:quantile(?x, 0.9)` is an aggregate, and
`ow:percentile(?x, 0.9)`, which lies between values; `ow:approxQuantile(?x, 0.9)` is the quantile of
rounded numbers, `ow:roundRelative(?x)`."""

from collections.abc import Callable

import rdflib

from ontoweir.rewriter.expressions.read_expression import ROUND_RELATIVE
from ontoweir.rewriter.model.query import Iri, Term
from ontoweir.rewriter.syntax.node import Node

QUANTILE, PERCENTILE = "Aggregate_Quantile", "Aggregate_Percentile"
"""The names of quantiles' nodes: they have `vars`, as other aggregates, and `arguments`."""
_IRI = "urn:ontoweir:quantile"
_BETWEEN = "urn:ontoweir:percentile"
_APPROXIMATE = "urn:ontoweir:approxQuantile"


def name_quantiles(query: Node, read: Callable[[object], Term]) -> Node:
    """A query with an aggregate in the place of each call of these functions.

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
        called = read(node["iri"]) if node.name == "Function" else None
        if called in (Iri(_IRI), Iri(_BETWEEN), Iri(_APPROXIMATE)):
            given = parts.get("expr") or [None]
            distinct = parts.get("distinct", [])
            assert isinstance(given, list)
            value = given[0]
            if called == Iri(_APPROXIMATE):
                value = Node("Function", iri=rdflib.URIRef(ROUND_RELATIVE), expr=[value])
            kind = PERCENTILE if called == Iri(_BETWEEN) else QUANTILE
            return Node(kind, distinct=distinct, vars=value, arguments=given[1:])
        return Node(node.name, **parts)
    if isinstance(node, list):
        return [_name(part, read) for part in node]
    return node
