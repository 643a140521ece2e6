"""The latest row of each key of a stream, as a relation that changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    Catalog,
    Column,
    Stream,
    TimestampType,
    VersionsOf,
)
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.model.show_values import advise_key
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from ontoweir.rewriter.runs.list_pinned import list_pinned

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class LatestOf:
    """Of which rows of a stream the latest are met: those of a key, that a condition is true of
    (None: all), which `true` says too, as an expression. `earlier`: what meets a row has a later
    time, not the same; `optional`: what meets no row is there all the same."""

    stream: Stream
    key: Sequence[str]
    only: "exp.Expr | None" = None
    earlier: bool = False
    optional: bool = False
    true: Expression | None = None


def declare_latest(
    of: LatestOf, catalog: Catalog, what: str, line: int | None
) -> tuple[Stream, Catalog]:
    """The relation, and the catalog with it. Beside the stream's columns it has its timestamp, as
    the time since when a row holds.

    Args:
        of: whose rows they are.
        catalog: the tables.
        what: how it is written, for messages.
        line: where.

    Raises:
        SqlRefusal: several rows of a key may be the latest, or the condition is not of one row.
    """
    stream, key, only = of.stream, of.key, of.true
    if of.only is not None:
        only = read_row_expression(of.only, Scope(catalog, {stream.name: stream}))
    told = {*key, stream.timestamp, *list_pinned(only)}
    if not any(set(known) <= told for known in stream.keys):
        raise SqlRefusal(
            f"{what}, where {stream.name} may have several rows of one timestamp",
            why="which of them is the latest, nobody could say",
            fix=f"{advise_key(stream, (*key, stream.timestamp))}, or join by more columns",
            line=line,
        )
    before = "before" if of.earlier else "until"
    by = ", ".join(key) or "all"
    name = f"{stream.name} {before} a row, by {by}" + (" or none" if of.optional else "")
    name += "" if only is None else f", where {write_expression(only)}"
    if name in catalog.streams:
        return catalog.streams[name], catalog
    columns = [
        replace(c, source=None) for c in stream.columns if c.bucket is None and c.expression is None
    ]
    if any(c.name == AS_OF for c in columns):
        raise SqlRefusal(
            f"{what}, where {stream.name} has a column called {AS_OF}",
            why="so is called the time at which its latest rows are read",
            fix="rename the column",
            line=line,
        )
    made = Stream(
        name,
        ANSWERS,
        AS_OF,
        stream.step_us,
        None,
        (*columns, Column(stream.timestamp, TimestampType())),
        ((*key, AS_OF),),
        stream.references,
        stream.source,
        unit_us=stream.unit_us,
        versions=VersionsOf(
            stream.name,
            tuple(key),
            only=only,
            time=stream.timestamp,
            earlier=of.earlier,
            optional=of.optional,
        ),
    )
    return made, replace(catalog, streams={**catalog.streams, name: made})
