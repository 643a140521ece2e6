"""A set query as the groups of its answers."""

from dataclasses import replace

from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import SpjUnion


def group_answers(union: SpjUnion) -> SpjUnion:
    """GROUP BY all that a query with DISTINCT selects: each group is an answer, told when it is
    first found. What a rule closes of groups is then closed of answers."""
    aggregation = Aggregation(union.variables, (), union.variables)
    return replace(union, distinct=False, aggregation=aggregation)
