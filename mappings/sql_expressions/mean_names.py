"""Whether names in backticks stand where a text would make no sense."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import ColumnType, StringType
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text

if TYPE_CHECKING:
    from sqlglot import exp

_OF_TIMES = ("DATE_TRUNC", "TIME_BUCKET", "TUMBLE", "TUMBLE_START", "TUMBLE_END", "HOP", "SESSION")
"""Functions of times."""


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
        _can_only_be(one, types)
        for one in tree.find_all(exp.Identifier)
        if one.meta.get("start") in asked
    )


def _can_only_be(name: "exp.Identifier", types: Mapping[str, ColumnType | None]) -> bool:
    """Whether a text at a name's place is no SQL, or is the same for all rows."""
    from sqlglot import exp

    column = name.parent
    if not isinstance(column, exp.Column) or len(column.parts) > 1:
        return True  # of USING, or a table's
    kind = types.get(name.name.lower())
    text = kind is None or isinstance(kind, StringType)
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
            others = [n for n in above.iter_expressions() if n is not node]
            kinds = {types.get(c.name.lower()) for n in others for c in n.find_all(exp.Column)}
            return not kinds or not (text or None in kinds or StringType() in kinds)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod() | exp.Neg():
            return not text
        case exp.TimestampTrunc() | exp.DateTrunc() | exp.Extract() | exp.TimestampDiff():
            return not text
        case exp.Anonymous() as function:
            return not text and function.name.upper() in _OF_TIMES
        case _:
            return False
