"""Put the tables of subqueries in their place in FROM."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal

if TYPE_CHECKING:
    from sqlglot import exp


_QUIET = "unasked"


@dataclass(frozen=True, slots=True)
class Inner:
    """A subquery: a SELECT over tables whose columns all have their tables, and the names that its
    columns have outside, but for those that are there unasked (`is_quiet`); `named`: it has an
    alias of its own."""

    select: "exp.Select"
    names: tuple[str, ...]
    named: bool

    @property
    def columns(self) -> "tuple[tuple[str, exp.Expr], ...]":
        """What it shows, and then what is there unasked."""
        shown = (item.unalias() for item in self.select.expressions if not is_quiet(item))
        return (*zip(self.names, shown, strict=True), *self._unasked)

    @property
    def quiet(self) -> frozenset[str]:
        """The names of what is there unasked."""
        return frozenset(name for name, _ in self._unasked)

    @property
    def _unasked(self) -> "tuple[tuple[str, exp.Expr], ...]":
        items = (i for i in self.select.expressions if is_quiet(i) and i.alias not in self.names)
        return tuple((item.alias, item.unalias()) for item in items)


def is_quiet(item: "exp.Expr") -> bool:
    """Whether an item of SELECT is there unasked: it has a name, and is no column of `*`."""
    return bool(item.meta.get(_QUIET))


def make_quiet(item: "exp.Expr") -> "exp.Expr":
    """The item of SELECT, there unasked."""
    item.meta[_QUIET] = True
    return item


def list_items(select: "exp.Select") -> "list[exp.Expr]":
    """The items of FROM and its joins, in order."""
    start = select.args.get("from_") or select.args.get("from")
    if start is None:
        return []
    return [start.this, *(join.this for join in select.args.get("joins") or ())]


def name_inner(
    block: "list[exp.Select]",
    alias: "exp.Expr | None",
    columns: tuple[str, ...],
    *,
    named: bool,
) -> list[Inner]:
    """SELECTs with the names that their columns have outside: of an alias, else `columns`, else of
    the first SELECT.

    Raises:
        SqlRefusal: they are too many, or too few.
    """
    given = tuple(c.name for c in alias.args.get("columns") or ()) if alias else ()
    own = tuple(item.alias for item in block[0].expressions if not is_quiet(item))
    names = given or columns or own
    if len(names) != len(own):
        raise SqlRefusal(
            f"{len(names)} names for {len(own)} columns",
            why="an alias names all columns of a subquery, or none",
            fix="write as many names as the subquery has columns",
            line=line_of(alias) if alias and given else line_of(block[0]),
        )
    if alias and given:
        alias.set("columns", None)
    return [Inner(select, names, named) for select in block]


def rename_inner(inner: Mapping[str, Inner], aliases: Iterable[str]) -> dict[str, Inner]:
    """Subqueries, by their aliases, whose tables have aliases that are free in the query around
    them: that of the subquery where it has one table, else their own if no other has it.

    Args:
        inner: the subqueries.
        aliases: all items of FROM.
    """
    taken = {alias.lower() for alias in aliases}
    made: dict[str, Inner] = {}
    for alias, sub in inner.items():
        select = sub.select.copy()
        tables = list_items(select)
        names: dict[str, str] = {}
        for table in tables:
            own = table.alias_or_name
            names[own] = alias
            if len(tables) > 1 or not sub.named:
                names[own] = next(n for n in _names(own, alias) if n.lower() not in taken)
                taken.add(names[own].lower())
        _rename(select, tables, names)
        made[alias] = replace(sub, select=select)
    return made


def _names(own: str, alias: str) -> Iterator[str]:
    """Its own alias, then longer ones."""
    yield own
    yield f"{alias}_{own}"
    for n in count(2):
        yield f"{alias}_{own}_{n}"


def _rename(select: "exp.Select", tables: "list[exp.Expr]", names: Mapping[str, str]) -> None:
    from sqlglot import exp

    for column in select.find_all(exp.Column):
        if column.table in names:
            column.set("table", exp.to_identifier(names[column.table], quoted=True))
    for table in tables:
        alias = exp.to_identifier(names[table.alias_or_name], quoted=True)
        table.set("alias", exp.TableAlias(this=alias))


def join_inner(select: "exp.Select", inner: Mapping[str, Inner]) -> None:
    """Put, in a SELECT whose columns all have their tables, the tables of subqueries in the place
    of these, and add their conditions.

    Args:
        select: changed in place.
        inner: the subqueries (rename_inner), by the aliases that stand for them in FROM.
    """
    from sqlglot import exp

    conditions: list[exp.Expr] = []
    joins: list[exp.Expr] = []
    start = select.args.get("from_") or select.args.get("from")
    for holder in [start, *(select.args.get("joins") or ())]:
        alias = holder.this.alias_or_name
        if holder is not start:
            joins.append(holder)
        if alias not in inner:
            continue
        sub = inner[alias].select
        first, *_ = list_items(sub)
        holder.set("this", first.copy())
        joins += [join.copy() for join in sub.args.get("joins") or ()]
        if (where := sub.args.get("where")) is not None:
            conditions.append(where.this.copy())
    select.set("joins", joins)
    if conditions:
        whole = select.args.get("where")
        outer = [] if whole is None else [whole.this]
        select.set("where", exp.Where(this=exp.and_(*conditions, *outer, copy=False)))


def unite_selects(
    parts: "tuple[exp.Query, ...] | list[exp.Select]", *, distinct: bool
) -> "exp.Query":
    """SELECTs under UNION, or UNION ALL."""
    from sqlglot import exp

    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = (unite_selects(side, distinct=distinct) for side in (parts[:half], parts[half:]))
    return exp.Union(this=left, expression=right, distinct=distinct)
