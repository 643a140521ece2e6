"""The part of a query in which columns have values, and those in which some are NULL."""

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import product

from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.algebra.equality_classes import valued_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    SpjQuery,
)

_MAX_NULLABLE = 8
"""Of so many columns that may be NULL every combination is a disjunct."""


def split_nulls(
    query: SpjQuery, group: Sequence[NotNull], never: Set[Attribute], line: int | None
) -> list[SpjQuery]:
    """The part of a query in which some columns have values, and those in which some of them are
    NULL.

    Args:
        query: one SELECT's disjunct.
        group: that the columns are not NULL, of all that may be.
        never: those that are NULL in every row.
        line: where it is.

    Raises:
        SqlRefusal: they are too many.
    """
    known = {a for c in query.conditions for a in valued_attributes(c)}
    doubtful = [c for c in dict.fromkeys(group) if c.attribute not in known]
    if len(doubtful) > _MAX_NULLABLE:
        raise SqlRefusal(
            f"{len(doubtful)} columns that may be NULL in GROUP BY, or on which EXISTS, IN or an "
            "outer join depends",
            why="NULL is told apart from values, and each combination of columns with and without "
            f"a value is a query of its own: of {_MAX_NULLABLE} columns at most",
            fix=f"add {doubtful[-1].attribute} IS NOT NULL to WHERE, or use fewer columns",
            line=line,
        )
    disjuncts = []
    for nulls in product(*((True,) if c.attribute in never else (False, True) for c in doubtful)):
        absent = {c.attribute: c for c, null in zip(doubtful, nulls, strict=True) if null}
        more = [IsNull(c.attribute, c.source) if c.attribute in absent else c for c in doubtful]
        outputs = tuple(
            (n, NullOutput(o.value) if isinstance(o, LiteralOutput) and o.value in absent else o)
            for n, o in query.outputs
        )
        disjuncts.append(replace(query, conditions=(*query.conditions, *more), outputs=outputs))
    return disjuncts
