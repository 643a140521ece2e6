"""The answers of a query inside of another one, as a stream that this one reads."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.subqueries.join_inner import make_quiet

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
