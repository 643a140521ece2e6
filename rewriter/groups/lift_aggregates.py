"""Aggregates inside expressions of SPARQL: variables in their places."""

from collections.abc import Callable

import rdflib

from ontoweir.rewriter.syntax.node import Node

_AGGREGATE = "Aggregate_"


def lift_aggregates(node: object, name: Callable[[Node], str]) -> object:
    """An expression with a variable in the place of each aggregate.

    Args:
        node: what rdflib made of it.
        name: the variable of an aggregate.
    """
    if isinstance(node, Node):
        if node.name.startswith(_AGGREGATE):
            return rdflib.Variable(name(node))
        return Node(node.name, **{key: lift_aggregates(part, name) for key, part in node.items()})
    if isinstance(node, list):
        return [lift_aggregates(part, name) for part in node]
    return node


def list_aggregates(node: object) -> list[Node]:
    """The aggregates in an expression, in order."""
    if isinstance(node, Node):
        if node.name.startswith(_AGGREGATE):
            return [node]
        return [found for part in node.values() for found in list_aggregates(part)]
    if isinstance(node, list):
        return [found for part in node for found in list_aggregates(part)]
    return []
