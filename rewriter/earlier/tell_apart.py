"""Columns that tell the rows of a window apart."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.show_values import advise_key
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.earlier.read_frame import WHY, Frame

if TYPE_CHECKING:
    from sqlglot import exp


def list_named(frame: Frame, stream: Stream, scope: Scope, place: "exp.Expr") -> tuple[str, ...]:
    """The columns that have a value in all rows of a window: its key, and what tells its rows
    apart.

    Raises:
        SqlRefusal: rows that are to have numbers may be equal.
    """
    more = find_key(stream, place) if frame.is_numbered else []
    return tuple(dict.fromkeys((*frame.key, *_list_ties(frame, scope), *more)))


def _list_ties(frame: Frame, scope: Scope) -> list[str]:
    """The columns that tell rows of one time apart."""
    from sqlglot import exp

    trees = [tree.this for tree in frame.ties]
    columns = [c for c in trees if isinstance(c, exp.Column)]
    return [scope.resolve(c.table or None, c.name, line_of(c)).column for c in columns]


def find_key(stream: Stream, place: "exp.Expr") -> list[str]:
    """The columns that tell the rows of one time apart, of the stream's least key.

    Raises:
        SqlRefusal: it has none.
    """
    keys = [[c for c in key if c != stream.timestamp] for key in stream.keys]
    if not keys and stream.max_per_timestamp != 1:
        raise SqlRefusal(
            f"{show_sql(place)}, where {stream.name} may have equal rows is outside what is "
            "read of windows of rows",
            why=WHY,
            fix=f"declare keys of [streams.{stream.name}], or write RANK()",
            line=line_of(place),
        )
    return min(keys, key=len, default=[])


def require_order(
    frame: Frame, stream: Stream, scope: Scope, key: tuple[str, ...], place: "exp.Expr"
) -> None:
    """Raise SqlRefusal where a window's rows of one key and time may be several, in no order."""
    ties = _list_ties(frame, scope)
    if any(set(known) <= {*key, *ties, stream.timestamp} for known in stream.keys):
        return
    if stream.max_per_timestamp == 1:
        return
    raise SqlRefusal(
        f"{show_sql(place)}, where {stream.name} may have several rows of one timestamp",
        why="which of them is before the other, nobody could say",
        fix=f"{advise_key(stream, (*key, stream.timestamp))}, or partition by more columns, or "
        "order by more",
        line=line_of(place),
    )
