"""Columns of a SELECT, by names that are its own."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import keep_line
from ontoweir.rewriter.joins.absence_trees import LEFT, RIGHT, TIME
from ontoweir.rewriter.subqueries.join_inner import list_items

if TYPE_CHECKING:
    from sqlglot import exp


class ColumnNames:
    """Columns of some aliases, by the names that they get; `keys`: those that parts depend on."""

    def __init__(self, aliases: set[str]) -> None:
        self.aliases = aliases
        self.columns: dict[str, exp.Column] = {}
        self.keys: set[str] = set()

    def add(self, column: "exp.Column", *, key: bool) -> None:
        if column.table.lower() not in self.aliases:
            return
        name = next((n for n, c in self.columns.items() if name_text(c) == name_text(column)), None)
        if name is None:
            taken = set(self.columns)
            name = column.name if free_name(column.name, taken) == column.name else ""
            name = name or free_name(f"{column.table}_{column.name}", taken)
            self.columns[name] = column.copy()
        if key:
            self.keys.add(name)

    def text(self, name: str) -> str:
        """What a column is, by its name."""
        return name_text(self.columns[name])


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that none of some is, nor `at`, nor one that parts have."""
    used = {t.lower() for t in taken} | {"at"}
    reserved = (TIME, LEFT, RIGHT)
    made, n = name, 2
    while made.lower() in used or any(made.lower().startswith(f"{r} ") for r in reserved):
        made, n = f"{name}_{n}", n + 1
    return made


def name_text(column: "exp.Column") -> str:
    return f"{column.table.lower()}.{column.name}"


def columns_of(tree: "exp.Expr") -> "Iterator[exp.Column]":
    """The columns of a tree; of SELECTs inside of it those that are not their own."""
    from sqlglot import exp

    for node in list(tree.walk(prune=lambda n: n is not tree and isinstance(n, exp.Select))):
        if isinstance(node, exp.Column) and node.table:
            yield node
        elif isinstance(node, exp.Select) and node is not tree:
            own = {i.alias_or_name.lower() for i in list_items(node)}
            yield from (c for c in columns_of(node) if c.table.lower() not in own)


def columns_around(rows: "exp.Select", inside: set[str]) -> "Iterator[exp.Column]":
    """The columns of the SELECT around it."""
    own = {i.alias_or_name.lower() for i in list_items(rows)}
    for column in columns_of(rows):
        if column.table.lower() not in own and column.table.lower() in inside:
            yield column


def substitute(tree: "exp.Expr", meaning: "Mapping[str, exp.Expr]") -> None:
    """What columns stand for, in their place; items of SELECT keep their names."""
    from sqlglot import exp

    for column in list(columns_of(tree)):
        made = meaning.get(name_text(column))
        if made is None:
            continue
        if isinstance(column.parent, exp.Select):
            column.replace(exp.alias_(made.copy(), column.name, quoted=True))
            continue
        keep_line(column)
        made = made.copy()
        wrapped = isinstance(made, exp.Binary) and isinstance(column.parent, exp.Binary)
        column.replace(exp.Paren(this=made) if wrapped else made)


def substitute_around(rows: "exp.Select", meaning: "Mapping[str, exp.Expr]") -> None:
    own = {i.alias_or_name.lower() for i in list_items(rows)}
    substitute(rows, {t: m for t, m in meaning.items() if t.split(".")[0] not in own})
