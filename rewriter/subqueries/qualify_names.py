"""Give every column of a SELECT its table, also in the subqueries of its conditions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Shown:
    """The columns of an item of FROM, in order; `quiet`: those that `*` does not show."""

    columns: tuple[str, ...]
    quiet: frozenset[str] = frozenset()


Items: TypeAlias = Mapping[str, Shown]
"""The items of FROM, by their aliases, in order."""


def qualify_names(
    select: "exp.Select",
    list_columns: "Callable[[exp.Select], Items]",
    around: Sequence[Items] = (),
) -> None:
    """Name the table of every column of a SELECT that has one; `*` becomes columns. What is not
    known stays as it is, and is refused where it is read.

    Args:
        select: changed in place.
        list_columns: of a SELECT, the columns of each item of FROM.
        around: of the SELECTs that it is a subquery of, the nearest first.

    Raises:
        SqlRefusal: a name is ambiguous.
    """
    from sqlglot import exp

    items = list_columns(select)
    hidden = {
        j.this.alias_or_name
        for j in select.args.get("joins") or ()
        if str(j.args.get("kind") or "").upper() in ("SEMI", "ANTI")
    }
    shown = {a: columns for a, columns in items.items() if a not in hidden}
    using = {
        n.name.lower() for j in select.args.get("joins") or () for n in j.args.get("using") or ()
    }
    made: list[exp.Expr] = []
    for item in select.expressions:
        inner = item.unalias()
        if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and inner.is_star):
            made += _expand(item, shown, using)
            continue
        name = item.alias_or_name
        holder = exp.Paren(this=inner.copy())
        _qualify(holder, [shown, *around], using)
        made.append(exp.alias_(holder.this, name, quoted=True) if name else holder.this)
    select.set("expressions", made)
    for key in ("where", "group", "having"):
        if (clause := select.args.get(key)) is not None:
            _qualify(clause, [shown, *around], using)
    for join in select.args.get("joins") or ():
        if join.args.get("on") is not None:
            holder = exp.Paren(this=join.args["on"].copy())
            _qualify(holder, [items, *around], using)
            join.set("on", holder.this)
    for inside in list(_list_subqueries(select)):
        qualify_names(inside, list_columns, [shown, *around])


def _expand(item: "exp.Expr", items: Items, using: set[str]) -> "list[exp.Expr]":
    from sqlglot import exp

    inner = item.unalias()
    star = inner.this if isinstance(inner, exp.Column) else inner
    if any(star.args.values()) or (using and not isinstance(inner, exp.Column)):
        raise SqlRefusal(
            f"{show_sql(item)} beside EXISTS, IN or an outer join",
            why="it is read as the columns of all tables",
            fix="write the columns",
            line=line_of(item),
        )
    wanted = inner.table if isinstance(inner, exp.Column) else None
    return [
        exp.alias_(exp.column(c, alias, quoted=True), c, quoted=True)
        for alias, shown in items.items()
        if wanted is None or alias.lower() == wanted.lower()
        for c in shown.columns
        if c not in shown.quiet
    ]


def _qualify(tree: "exp.Expr", scopes: Sequence[Items], using: set[str]) -> None:
    from sqlglot import exp

    inside = (exp.Select, exp.SetOperation)
    columns = [
        node
        for node in tree.walk(prune=lambda n: isinstance(n, inside))
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star)
    ]
    for column in columns:
        found = _find(column, scopes, using)
        if found is not None:
            alias, name = found
            line = line_of(column)
            made = exp.column(name, alias, quoted=True)
            if line is not None:
                made.this.meta["line"] = line
            column.replace(made)


def _find(column: "exp.Column", scopes: Sequence[Items], using: set[str]) -> tuple[str, str] | None:
    for items in scopes:
        if column.table:
            alias = find_name(column.table, items)
            if alias is None:
                continue
            name = find_name(column.name, items[alias].columns)
            return None if name is None else (alias, name)
        found = [
            (alias, name)
            for alias, shown in items.items()
            if (name := find_name(column.name, shown.columns)) is not None
        ]
        if len(found) > 1 and column.name.lower() not in using:
            raise SqlRefusal(
                f"the column {column.name!r} is ambiguous",
                why=f"{' and '.join(a for a, _ in found)} both have it",
                fix=f"write {found[0][0]}.{found[0][1]}",
                line=line_of(column),
            )
        if found:
            return found[0]
    return None


def _list_subqueries(select: "exp.Select") -> "list[exp.Select]":
    """The SELECTs of its conditions, not those inside of these."""
    from sqlglot import exp

    places = [select.args.get("where"), *(j.args.get("on") for j in select.args.get("joins") or ())]
    found: list[exp.Select] = []
    for place in places:
        if place is None:
            continue
        found += [
            node
            for node in place.walk(prune=lambda n: isinstance(n, exp.Select))
            if isinstance(node, exp.Select)
        ]
    return found
