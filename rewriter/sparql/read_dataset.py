"""Reads the dataset clause of a query: FROM <graph>, any number of times."""

from collections.abc import Callable

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.query import Iri
from ontoweir.rewriter.sparql.read_terms import Terms
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node


def read_dataset(
    query: Node, tokens: Tokens, terms: Terms, refuse: Callable[..., QueryError]
) -> tuple[str, ...]:
    """The IRIs of the graphs that are the query's default graph; none: the dataset's own.

    Raises:
        QueryError: FROM NAMED, or an IRI with an undeclared prefix.
    """
    graphs: dict[str, None] = {}
    for clause in query.get("datasetClause", ()):
        line = tokens.line_of("FROM")
        named = clause.get("named")
        if named is not None:
            raise refuse(
                "FROM NAMED",
                "GRAPH names the time of a state, so it can name no graph of the mappings",
                "write FROM and the IRI: patterns are then matched in this graph",
                tokens.line_of("NAMED") or line,
            )
        graph = terms.read(clause.get("default"), line)
        assert isinstance(graph, Iri)
        graphs[graph.value] = None
    return tuple(graphs)
