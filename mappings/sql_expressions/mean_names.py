"""Whether names in backticks stand where a text would make no sense."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import ColumnType, StringType
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text

if TYPE_CHECKING:
    from sqlglot import exp


def mean_names(text: str, asked: Mapping[int, str], types: Mapping[str, ColumnType | None]) -> bool:
    """Whether at least one of some names can only be one.

    >>> mean_names("SELECT `k` FROM s WHERE s.a = `b`", {7: "k", 31: "b"}, {})
    True
    >>> mean_names("SELECT c FROM s WHERE s.a = `b`", {31: "b"}, {})
    False

    Args:
        text: Spark SQL.
        asked: the names, by where each begins, at its backtick.
        types: of columns that are called so, in small letters (None: several, or not known).
    """
    from sqlglot import exp

    try:
        tree = parse_sql_text(text)
    except SqlRefusal:
        return False
    return any(
        _can_only_be(one, types.get(one.name.lower()))
        for one in tree.find_all(exp.Identifier)
        if one.meta.get("start") in asked
    )


def _can_only_be(name: "exp.Identifier", kind: ColumnType | None) -> bool:
    """Whether a text at a name's place is no SQL, or is the same for all rows."""
    from sqlglot import exp

    column = name.parent
    if not isinstance(column, exp.Column) or len(column.parts) > 1:
        return True  # of USING, or a table's
    if kind is not None and not isinstance(kind, StringType):
        return True
    node: exp.Expression = column
    while isinstance(node.parent, (exp.Paren, exp.Ordered, exp.Tuple)):
        node = node.parent
    match node.parent:  # AS says nothing: 'slow' AS what
        case exp.Select() | exp.Group() | exp.Order() | exp.Distinct() | exp.Is():
            return True
        case exp.AggFunc() as function:
            return node is function.this
        case exp.Window() as window:
            return any(node is one for one in window.args.get("partition_by") or ())
        case exp.Expression() as above if isinstance(above, exp.Predicate):  # = and its like
            others = (n for n in above.iter_expressions() if n is not node)
            return not any(n.find(exp.Column) for n in others)
        case _:
            return False
