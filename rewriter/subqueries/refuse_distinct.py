"""The error for duplicates that are removed where rows are counted."""

from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal

if TYPE_CHECKING:
    from sqlglot import exp


def refuse_distinct(tree: "exp.Expr", what: str) -> SqlRefusal:
    """The error for a subquery whose rows would each have to be remembered, to count them once.

    Args:
        tree: the subquery.
        what: what it has.
    """
    return SqlRefusal(
        f"{what} in a subquery whose rows are counted",
        why="each row of it counts once over the whole history, and what reads it counts its rows: "
        "duplicates are removed from results here, and from what SELECT DISTINCT, MIN, MAX and "
        "COUNT(DISTINCT …) read",
        fix="write DISTINCT in the outermost SELECT; of static relations: declare a relation with "
        "this SQL as its view",
        line=line_of(tree),
    )
