"""What a SELECT computes and groups of joined rows, as a SELECT from a table of them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ontoweir.rewriter.aggregates.row_union import ROW
from ontoweir.rewriter.joined.part import Part
from ontoweir.rewriter.syntax.name_items import write_name

if TYPE_CHECKING:
    from sqlglot import exp


def name_column(part: Part, column: str) -> str:
    """What a column of a part is called in the table of joined rows."""
    return f"{part.alias}.{column}"


def write_row(
    tree: "exp.Select",
    rest: "Sequence[exp.Expr]",
    parts: Sequence[Part],
    find: "Callable[[exp.Expr], tuple[int, str] | None]",
) -> "exp.Select | None":
    """SELECT … FROM the joined rows WHERE `rest` GROUP BY … HAVING …, each item with its name
    (None: it reads something else). The columns that are read are noted as wanted.

    Args:
        tree: the query.
        rest: what it says of the joined rows.
        parts: of the join.
        find: the part of a column, and what it is called there.
    """
    from sqlglot import exp

    items = _list_items(tree, parts)
    names = [e.alias.lower() for e in items or ()]
    taken = {name_column(p, c).lower() for p in parts for c in p.names.values()}
    if items is None or len({*names}) < len(names) or taken & {*names}:
        return None
    made = exp.Select(
        expressions=items, from_=exp.From(this=exp.Table(this=exp.to_identifier(ROW, quoted=True)))
    )
    if rest:
        made.set("where", exp.Where(this=exp.and_(*(c.copy() for c in rest))))
    for key in ("group", "having"):
        if tree.args.get(key) is not None:
            made.set(key, tree.args[key].copy())
    if made.find(exp.Window, exp.Query) not in (None, made):
        return None
    for column in list(made.find_all(exp.Column)):
        found = find(column)
        if found is None:
            place = column.find_ancestor(exp.Group, exp.Having)
            if place is None or column.table or column.name.lower() not in names:
                return None
            continue
        number, name = found
        part = parts[number]
        if not part.is_shown:
            return None
        if name not in part.wanted:
            part.wanted.append(name)
        named = exp.column(name_column(part, name), quoted=True)
        named.this.meta.update(column.this.meta)
        column.replace(named)
    return made


def write_condition(
    condition: "exp.Expr",
    parts: Sequence[Part],
    want: "Callable[[exp.Expr], tuple[int, str]]",
) -> "exp.Expr":
    """A condition over columns of parts, as one over those of joined rows.

    Args:
        condition: all of whose columns are known.
        parts: of the join.
        want: the part of a column, and what it is called there; takes note that it is needed.
    """
    from sqlglot import exp

    made = condition.copy()
    for column in list(made.find_all(exp.Column)):
        number, name = want(column)
        column.set("this", exp.to_identifier(name_column(parts[number], name), quoted=True))
        column.set("table", None)
    return made


def _list_items(tree: "exp.Select", parts: Sequence[Part]) -> "list[exp.Expr] | None":
    """What is selected, each with its name."""
    from sqlglot import exp

    made: list[exp.Expr] = []
    for item in tree.expressions:
        if item.is_star:
            of = item.table.lower() if isinstance(item, exp.Column) else ""
            if any(part.registers for part in parts):
                return None
            made += [
                exp.alias_(exp.column(c, part.alias, quoted=True), c, quoted=True)
                for part in parts
                if of in ("", part.alias.lower()) and part.is_shown
                for c in part.names.values()
            ]
            continue
        plain = item.alias or isinstance(item, exp.Column)
        name = item.alias_or_name if plain else write_name(item)
        made.append(exp.alias_(item.unalias().copy(), name, quoted=True))
    return made
