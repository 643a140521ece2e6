"""Constants that are aggregated, as expressions of a row."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name

if TYPE_CHECKING:
    from sqlglot import exp


def spell_constants(tree: "exp.Query", catalog: Catalog) -> None:
    """Where groups are of a UNION ALL in FROM, let a number that one of its parts selects be
    computed of a column, as other parts' values are, and a column that it selects once more of
    itself, as it is another one in other parts; in place. What is computed is the same."""
    from sqlglot import exp

    for outer in tree.find_all(exp.Select):
        start = outer.args.get("from_")
        inside = None if start is None else start.this
        if not isinstance(inside, exp.Subquery) or not outer.find(exp.AggFunc):
            continue
        united = inside.this
        if type(united) is not exp.Union or united.args.get("distinct"):
            continue
        parts = [p for p in united.find_all(exp.Select) if p.find_ancestor(exp.Select) is outer]
        for part in parts if len({_list_again(p) for p in parts}) > 1 else []:
            _tell_apart(part, catalog)
        for part in parts:
            _spell(part, catalog)


def _spell(part: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    column = find_column(part, catalog)
    if column is None or part.args.get("distinct") or part.args.get("group"):
        return
    known: list[exp.Expr] = []
    for item in list(part.expressions):
        value = item.unalias().unnest()
        number = value.this if isinstance(value, exp.Neg) else value
        if not isinstance(number, exp.Literal) or number.is_string:
            continue
        made = spell(value, column)
        for _ in range(known.count(value)):  # it may be another one in other parts
            made.append("ifs", made.args["ifs"][0].copy())
        known.append(value)
        item.replace(exp.alias_(made, item.alias_or_name or item.sql("spark"), quoted=True))


def _list_again(part: "exp.Select") -> tuple[tuple[int, int], ...]:
    """Which of its columns a SELECT shows once more, by their places, each with that of the first
    one."""
    from sqlglot import exp

    shown = [e.unalias() for e in part.expressions]
    firsts = [(n, shown.index(e)) for n, e in enumerate(shown) if isinstance(e, exp.Column)]
    return tuple((n, first) for n, first in firsts if first < n)


def _tell_apart(part: "exp.Select", catalog: Catalog) -> None:
    """Let what is shown once more be computed, but for timestamps."""
    from sqlglot import exp

    times = {stream.timestamp.lower() for stream in catalog.streams.values()}
    for place, _ in _list_again(part):
        item = part.expressions[place]
        if (of := item.unalias()).name.lower() not in times:
            again = exp.Coalesce(this=of.copy(), expressions=[of.copy()])
            item.replace(exp.alias_(again, item.alias_or_name, quoted=True))


def spell(value: "exp.Expr", column: "exp.Expr") -> "exp.Expr":
    """A constant, computed of a column."""
    from sqlglot import exp

    case = exp.Case(default=value.copy())
    absent = exp.Is(this=column.copy(), expression=exp.Null())
    case.append("ifs", exp.If(this=absent, true=value.copy()))
    return case


def find_column(part: "exp.Select", catalog: Catalog) -> "exp.Expr | None":
    """A column of the first table of FROM, which is declared (None: it is none)."""
    from sqlglot import exp

    start = part.args.get("from_")
    table = None if start is None else start.this
    if not isinstance(table, exp.Table) or table.args.get("db"):
        return None
    name = find_name(table.name, [*catalog.streams, *catalog.relations])
    columns = () if name is None else catalog.table(name).columns
    plain = [c.name for c in columns if c.expression is None and c.bucket is None]
    return exp.column(plain[0], table.alias_or_name, quoted=True) if plain else None
