"""Groups of rows that hold, as these rows, with their key, and what is made of them."""

from dataclasses import replace

from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import LiteralOutput, Output, SpjUnion


def take_groups(union: SpjUnion, key: str) -> tuple[SpjUnion, tuple[str, ...], Aggregation]:
    """The matches of an aggregate query, the variables of their key, and its aggregates.

    Args:
        union: its last aggregates, whose names begin with `key`, count the columns of the key.
        key: how they are called.
    """
    made = union.aggregation
    assert made is not None
    counted = [a for a in made.aggregates if a.name.startswith(key)]
    names = [a.argument for a in counted if a.argument is not None]
    assert len(names) == len(counted)
    groups = replace(
        made,
        aggregates=tuple(a for a in made.aggregates if a not in counted or a.name in made.read),
        columns=tuple(c for c in made.columns if not c.startswith(key)),
    )
    disjuncts = tuple(
        replace(q, outputs=tuple((n, or_null(o)) for n, o in q.outputs)) for q in union.disjuncts
    )
    rows = replace(union, aggregation=None, distinct=False, disjuncts=disjuncts)
    return rows, tuple(dict.fromkeys(names)), groups


def or_null(output: Output) -> Output:
    """A column of the matches, in which there may be NULL where no condition mentions it."""
    return replace(output, optional=True) if isinstance(output, LiteralOutput) else output
