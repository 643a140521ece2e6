"""The sides of a UNION, EXCEPT or INTERSECT with columns of the same types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.write_expression import name_sql_type
from ontoweir.mappings.model.catalog import ColumnType, IntType
from ontoweir.rewriter.reshaped.widen_unions import find_common

if TYPE_CHECKING:
    from sqlglot import exp

    Side = tuple[exp.Query, Sequence[ColumnType | None]]


def name_columns(tree: "exp.Query") -> "exp.Query":
    """A side, each column of which has a name of its own: it counts at which place it is.

    Args:
        tree: the side; another one than a SELECT of named columns is as it is.
    """
    from sqlglot import exp

    made = tree.unnest().copy()
    if not isinstance(made, exp.Select) or any(e.is_star for e in made.expressions):
        return tree
    names = [
        (e.alias_or_name if isinstance(e, (exp.Alias, exp.Column)) else "").lower()
        for e in made.expressions  # COUNT(*) is called *
    ]
    if "" not in names and len({*names}) == len(names):
        return tree
    items = [exp.alias_(e.unalias(), f"column {n}") for n, e in enumerate(made.expressions)]
    made.set("expressions", items)
    return made


def type_nulls(tree: "exp.Query") -> "exp.Query":
    """A side in which NULL, which is of any type, is one of some type.

    Args:
        tree: the side; it is not changed.
    """
    made = tree.copy()
    for place in range(len(made.selects)):
        if is_null(made, place):
            _cast(made, place, IntType())
    return made


def level_sides(sides: "Sequence[Side]") -> "list[exp.Query]":
    """The sides, with NULL, and numbers beside those of a wider type, as values of the type that
    the column has in the others.

    Args:
        sides: of each its query, and the types of its columns (None: it has several).
    """
    from sqlglot import exp

    made: list[exp.Query] = [tree.copy() for tree, _ in sides]
    for place, every in enumerate(zip(*(of for _, of in sides), strict=True)):
        kinds = [None if is_null(t, place) else k for t, k in zip(made, every, strict=True)]
        known = {kind for kind in kinds if kind is not None}
        common = next(iter(known)) if len(known) == 1 else find_common(list(known))
        if common is None:
            continue
        for tree, kind in zip(made, kinds, strict=True):
            if kind != common:
                _cast(tree, place, common)
    return made


def is_null(tree: "exp.Query", place: int) -> bool:
    """Whether a column of a SELECT is NULL, which is of any type.

    Args:
        tree: the SELECT; of another query it is not known.
        place: the column's.
    """
    from sqlglot import exp

    inner = tree.unnest()
    return isinstance(inner, exp.Select) and isinstance(
        inner.expressions[place].unalias().unnest(), exp.Null
    )


def _cast(tree: "exp.Query", place: int, kind: ColumnType) -> None:
    """Make a column of a SELECT one of a type, in place."""
    from sqlglot import exp

    inner = tree.unnest()
    if isinstance(inner, exp.Select):
        item = inner.expressions[place]
        name = item.alias_or_name or f"column {place}"
        cast = exp.cast(item.unalias(), name_sql_type(kind), dialect="spark")
        item.replace(exp.alias_(cast, name, quoted=True))
