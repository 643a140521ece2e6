"""Which column each name of a SELECT means, where some items of FROM are subqueries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.sql.read_literal import keep_line, line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.refuse_clauses import refuse_sql
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp


Columns: TypeAlias = "tuple[tuple[str, exp.Expr | None], ...]"
"""Columns by their names, in order, and what each stands for (None: it is a table's)."""


@dataclass(slots=True)
class FromItem:
    """An item of FROM: its alias, and its columns; `quiet`: those that `*` does not show, and that
    any other of the name goes before; `hidden`: those that JOIN … USING makes one with a column
    before them."""

    alias: str
    columns: Columns
    quiet: frozenset[str] = frozenset()
    hidden: set[str] = field(default_factory=set)

    def find(self, name: str, line: int | None) -> "tuple[str, exp.Expr | None] | None":
        """The column of a name.

        Raises:
            SqlRefusal: several are called so.
        """
        spelled = find_name(name, dict(self.columns))
        if spelled is None:
            return None
        found = [column for column in self.columns if column[0] == spelled]
        if len(found) > 1:
            raise SqlRefusal(
                f"the column {name!r} is ambiguous",
                why=f"{self.alias} shows {len(found)} columns of that name",
                fix="name them apart with AS in the subquery",
                line=line,
            )
        return found[0]


def resolve_names(select: "exp.Select", items: Mapping[str, FromItem]) -> None:
    """Put, in a SELECT, what it stands for in the place of each column; `*` becomes columns, USING
    a condition, and every item of SELECT keeps its name.

    Args:
        select: the SELECT, changed in place; its FROM is not.
        items: of its FROM, by their aliases, in order.

    Raises:
        SqlRefusal: a name is unknown or ambiguous.
    """
    from sqlglot import exp

    names = _Names(items)
    joins = select.args.get("joins") or ()
    _equate_using(joins, names)
    made: list[exp.Expr] = []
    for item in select.expressions:
        starred = names.expand(item)
        if starred is not None:
            made += starred
            continue
        name = item.alias_or_name or item.sql("spark")
        inner = names.replace(item.unalias())
        made.append(exp.alias_(inner, name, quoted=True, copy=False))
    select.set("expressions", made)
    given = {m.alias.lower(): m.unalias() for m in made}
    for place in [select.args.get("where"), *(j.args.get("on") for j in joins)]:
        if place is not None:
            names.replace(place)
    for key in ("having", "qualify"):
        if (clause := select.args.get(key)) is not None:
            names.replace(clause, given.get)
    if (group := select.args.get("group")) is not None:
        group.set("expressions", [_group(e, names, given) for e in group.expressions])


def _group(item: "exp.Expr", names: "_Names", given: "Mapping[str, exp.Expr]") -> "exp.Expr":
    """An item of GROUP BY: not a constant that takes the place of a column, which would be read as
    a position in SELECT."""
    from sqlglot import exp

    written = isinstance(item, exp.Column)
    made = names.replace(item, given.get)
    if written and isinstance(made.unnest(), (exp.Literal, exp.Boolean, exp.Null)):
        raise SqlRefusal(
            f"GROUP BY {show_sql(item)}, which is the constant {show_sql(made)}",
            why="a constant tells no groups apart",
            fix="leave it out of GROUP BY and SELECT, or write one query for each constant",
            line=line_of(item),
        )
    return made


@dataclass(slots=True)
class _Names:
    items: Mapping[str, FromItem]

    def expand(self, item: "exp.Expr") -> "list[exp.Expr] | None":
        """The columns that `*` or `x.*` is; None: it is something else."""
        from sqlglot import exp

        inner = item.unalias()
        if not isinstance(inner, exp.Star) and not (
            isinstance(inner, exp.Column) and inner.is_star
        ):
            return None
        star = inner.this if isinstance(inner, exp.Column) else inner
        if any(star.args.values()):
            raise refuse_sql(item, "* EXCEPT")
        items = list(self.items.values())
        if isinstance(inner, exp.Column):
            items = [self.item(inner.table, line_of(inner))]
        elif any(i.hidden for i in items):
            raise refuse_sql(item, "* with JOIN … USING", "write the columns")
        return [
            exp.alias_(_meaning(name, of, i, None), name, quoted=True)
            for i in items
            for name, of in i.columns
            if name not in i.quiet
        ]

    def item(self, alias: str, line: int | None) -> FromItem:
        """The item of an alias."""
        found = find_name(alias, self.items)
        if found is None:
            raise SqlRefusal(
                f"unknown alias {alias!r}",
                why=f"FROM has {', '.join(self.items)}",
                fix=did_you_mean(alias, self.items),
                line=line,
            )
        return self.items[found]

    def replace(
        self,
        tree: "exp.Expr",
        given: "Callable[[str], exp.Expr | None]" = lambda _: None,
    ) -> "exp.Expr":
        """A piece of SQL with columns of tables; `given`: what SELECT calls by a name."""
        for column in list(_list_columns(tree)):
            made = self.resolve(column, given)
            if column is tree:
                return made
            keep_line(column)
            column.replace(made)
        return tree

    def resolve(
        self, column: "exp.Column", given: "Callable[[str], exp.Expr | None]"
    ) -> "exp.Expr":
        """What a column stands for."""
        from sqlglot import exp

        name, line = column.name, line_of(column)
        items = list(self.items.values())
        if column.table:
            items = [self.item(column.table, line)]
        found = [
            (i, hit)
            for i in items
            if (hit := i.find(name, line)) is not None and (column.table or hit[0] not in i.hidden)
        ]
        if len(found) > 1:
            found = [(i, hit) for i, hit in found if hit[0] not in i.quiet] or found
        if len(found) > 1:
            first, hit = found[0]
            raise SqlRefusal(
                f"the column {name!r} is ambiguous",
                why=f"{' and '.join(i.alias for i, _ in found)} both have it",
                fix=f"write {first.alias}.{hit[0]}",
                line=line,
            )
        if not found:
            named = None if column.table else given(name.lower())
            if named is not None:
                return _enclose(named.copy(), column)
            shown = [c for i in items for c, _ in i.columns]
            owner = ", ".join(i.alias for i in items)
            raise SqlRefusal(
                f"unknown column {name!r} of {owner}",
                why=f"{'it shows' if len(items) == 1 else 'they show'} {', '.join(shown[:12])}"
                + (f" and {len(shown) - 12} more" if len(shown) > 12 else ""),
                fix=did_you_mean(name, shown),
                line=line,
            )
        item, (spelled, of) = found[0]
        made = _meaning(spelled, of, item, line)
        return made if isinstance(made, exp.Column) else _enclose(made, column)


def _meaning(name: str, of: "exp.Expr | None", item: FromItem, line: int | None) -> "exp.Expr":
    from sqlglot import exp

    if of is not None:
        return of.copy()
    made = exp.column(name, item.alias, quoted=True)
    if line is not None:
        made.this.meta["line"] = line
    return made


def _enclose(made: "exp.Expr", place: "exp.Expr") -> "exp.Expr":
    """An expression in the place of a column: in parentheses where an operator is around it."""
    from sqlglot import exp

    outer = (exp.Binary, exp.Unary, exp.Between, exp.In)
    if isinstance(made, (exp.Binary, exp.Unary)) and isinstance(place.parent, outer):
        return exp.Paren(this=made)
    return made


def _list_columns(tree: "exp.Expr") -> "Iterator[exp.Column]":
    """The columns, but for those of subqueries in it."""
    from sqlglot import exp

    for node in tree.walk(prune=lambda n: isinstance(n, (exp.Select, exp.SetOperation))):
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            yield node


def _equate_using(joins: "Sequence[exp.Join]", names: _Names) -> None:
    """JOIN … USING (name) as an equation: the column before the join is that of what is joined."""
    from sqlglot import exp

    aliases = list(names.items)
    for place, join in enumerate(joins, len(aliases) - len(joins)):
        using = join.args.get("using") or ()
        for named in using:
            name, line = named.name, line_of(join)
            joined = names.items[aliases[place]]
            right = joined.find(name, line)
            if right is None:
                raise SqlRefusal(
                    f"unknown column {name!r} of {joined.alias}",
                    why="JOIN … USING joins columns of one name",
                    fix=did_you_mean(name, dict(joined.columns)),
                    line=line,
                )
            before = [names.items[a] for a in aliases[:place]]
            left = [
                i
                for i in before
                if (hit := i.find(name, line)) is not None and hit[0] not in i.hidden
            ]
            if len(left) != 1:
                raise SqlRefusal(
                    f"USING ({name}) joins a column of {joined.alias} with {len(left)} columns",
                    why=f"exactly one of {', '.join(i.alias for i in before)} must have a column "
                    "of that name",
                    fix=f"write JOIN … ON … = {joined.alias}.{name}",
                    line=line,
                )
            joined.hidden.add(right[0])
            sides = [exp.column(name, i.alias, quoted=True) for i in (left[0], joined)]
            for side in sides:
                if line is not None:
                    side.this.meta["line"] = line
            equal = exp.EQ(this=sides[0], expression=sides[1])
            on = join.args.get("on")
            join.set("on", equal if on is None else exp.and_(on, equal))
        if using:
            join.set("using", None)
