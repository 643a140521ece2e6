"""The answers, or the rows, of a query inside of another one, as a stream that this one reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_table
from ontoweir.rewriter.expressions.spell_constants import find_column, spell
from ontoweir.rewriter.joins.absence_trees import TIME, AbsenceTrees, StreamColumns
from ontoweir.rewriter.subqueries.column_names import free_name
from ontoweir.rewriter.subqueries.join_inner import Inner, list_items, make_quiet

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Answers:
    """The stream that the answers of an aggregate query, or of a set query, are.

    `catalog`: with the stream; `columns`: the columns that the query shows, by their names, in
    order; how long before the stream's timestamp each is, in µs (None: it is a column of the
    stream).
    """

    stream: Stream
    catalog: Catalog
    columns: tuple[tuple[str, int | None], ...]


def select_answers(answers: Answers, line: int | None) -> "exp.Select":
    """A SELECT of all columns of answers, over their stream; their timestamp is there unasked.

    Args:
        answers: the stream.
        line: where the query stands that they are of.
    """
    from sqlglot import exp

    table = answers.stream.name
    columns: list[exp.Expr] = []
    for column, behind in answers.columns:
        made: exp.Expr = exp.column(column, table, quoted=True)
        if behind is not None:
            made = exp.column(answers.stream.timestamp, table, quoted=True)
            micros = exp.Literal.string(str(behind))
            length = exp.Interval(this=micros, unit=exp.Var(this="MICROSECOND"))
            made = exp.Sub(this=made, expression=length) if behind else made
        item = exp.alias_(made, column, quoted=True)
        columns.append(make_quiet(item) if column == answers.stream.timestamp else item)
    select = exp.Select(expressions=columns).from_(
        exp.Table(this=exp.to_identifier(table, quoted=True))
    )
    for named in select.find_all(exp.Identifier):
        if line is not None:
            named.meta["line"] = line
    return select


def unite_rows(
    parts: Sequence[Inner],
    name: str,
    tables: Callable[[], Catalog],
    read: Callable[[AbsenceTrees, str], StreamColumns],
) -> list[Inner]:
    """The rows of several SELECTs, each of them once, as a SELECT over one stream: functions over
    windows are over all of them together.

    Args:
        parts: the SELECTs, over tables.
        name: what the stream is called, if no table is.
        tables: the catalog, with the streams that were made.
        read: makes the stream.

    Raises:
        SqlRefusal: there is no one time at which all of their rows come.
    """
    from sqlglot import exp

    catalog, columns = tables(), [column for column, _ in parts[0].columns]
    own: list[str] = []
    for column in columns:
        own.append(free_name(column, own))
    found, counts = [], set[int]()
    for part in parts:
        tree = part.select.copy()
        tree.set("distinct", None)
        streams = [
            exp.column(table.timestamp, item.alias_or_name, quoted=True)
            for item in list_items(tree)
            if isinstance(table := find_table(item.name, catalog), Stream)
        ]
        given = dict(part.columns)
        shown = [_spelled(given[c], tree, catalog) if c in given else None for c in columns]
        items = [exp.alias_(c, n, quoted=True) for c, n in zip(shown, own, strict=True) if c]
        stamps = [exp.alias_(c, f"{TIME} {n}", quoted=True) for n, c in enumerate(streams)]
        tree.set("expressions", [*items, *stamps])
        found.append(tree)
        counts.add(len(streams) if len(items) == len(columns) else 0)
    if len(counts) > 1 or 0 in counts:
        raise SqlRefusal(
            "a function over a window of the rows of a UNION ALL of parts that read as many "
            "streams as others",
            why="its rows are one stream, each row of which has the time of those that it is of",
            fix="let each part read one stream, in subqueries",
            line=line_of(found[0]),
        )
    times = tuple(f"{TIME} {n}" for n in range(counts.pop()))
    stream, known = read(
        AbsenceTrees(tuple(found), (*own, *times), times, (), (), True, line_of(found[0])), name
    )
    behind, stamp = dict(known), tables().streams[stream].timestamp
    made = [
        exp.alias_(_place(n, behind[n], stream, stamp), c, quoted=True)
        for n, c in zip(own, columns, strict=True)
    ]
    quiet = [make_quiet(i) if i.alias in parts[0].quiet else i for i in made]
    select = exp.Select(expressions=quiet).from_(
        exp.Table(this=exp.to_identifier(stream, quoted=True))
    )
    return [Inner(select, parts[0].names, parts[0].named)]


def _spelled(value: "exp.Expr", part: "exp.Select", catalog: Catalog) -> "exp.Expr":
    """What a part shows; of a constant, computed of a column."""
    from sqlglot import exp

    column = find_column(part, catalog) if value.find(exp.Column) is None else None
    return value.copy() if column is None else spell(value, column)


def _place(name: str, behind: int | None, stream: str, stamp: str) -> "exp.Expr":
    """The column of the stream, or its timestamp less some time."""
    from sqlglot import exp

    if behind is None:
        return exp.column(name, stream, quoted=True)
    made: exp.Expr = exp.column(stamp, stream, quoted=True)
    if not behind:
        return made
    micros = exp.Literal.string(str(behind))
    return exp.Sub(
        this=made, expression=exp.Interval(this=micros, unit=exp.Var(this="MICROSECOND"))
    )
