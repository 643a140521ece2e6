"""Groups of all rows so far that others read, as the latest of the rows that groups have had."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.blocks.declare_block import AT
from ontoweir.rewriter.grouped.lift_having import lift_having
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.model.spj import Block
from ontoweir.rewriter.subqueries.column_names import free_name
from ontoweir.rewriter.updates.read_groups import is_of_groups, list_keys

if TYPE_CHECKING:
    from sqlglot import exp

ReadGroups = Callable[["exp.Select", Catalog, str], tuple[Block, Catalog] | None]
"""Makes a stream of what becomes of the groups of a SELECT, which may be called so; and the catalog
with it (None: its groups are final, or are none)."""

_ROWS = "rows of groups"


def keep_groups(
    tree: "exp.Query", catalog: Catalog, read: ReadGroups
) -> "tuple[exp.Query, Catalog] | None":
    """A query where `(SELECT k, MEDIAN(x) AS m FROM … GROUP BY k HAVING m > 3)` of FROM and JOIN is
    `(SELECT k, m FROM g QUALIFY RANK() OVER (PARTITION BY k ORDER BY at DESC) = 1)`, of those whose
    HAVING holds, where g are the rows that the groups have had; and the catalog with these streams
    (None: there are no such groups).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: makes the stream.

    Raises:
        SqlRefusal: what is grouped is not read.
    """
    from sqlglot import exp

    made, before = lift_having(tree), catalog
    for item in list(made.find_all(exp.Subquery)):
        inner = item.this
        named = isinstance(item.parent, exp.From | exp.Join) and is_plain(item) and item.alias
        if named and is_of_groups(inner):
            names, around = _name_columns(inner), item.find_ancestor(exp.Select)
            if names is None or around is None:
                continue
            rows, keys, having = _write_rows(inner, names, catalog)
            starred = any(e.is_star for e in around.expressions)
            if starred and not {*keys} <= {*names.values()}:
                continue  # it would show what is grouped by, too
            found = read(rows, catalog, f"groups of {item.alias}")
            if found is not None:
                block, catalog = found
                item.set("this", _write_latest(block.stream.name, names, keys, having))
    return None if catalog is before else (made, catalog)


def _name_columns(inner: "exp.Select") -> dict[str, str] | None:
    """Of what is shown, how it is called among the rows of groups, whose time has a name of its own
    (None: something has no name)."""
    shown = [e.alias_or_name for e in inner.expressions]
    several = len({name.lower() for name in shown}) < len(shown)
    if several or not all(shown) or any(e.is_star for e in inner.expressions):
        return None
    return {name: free_name(name, [AT]) for name in shown}


def _write_rows(
    inner: "exp.Select", names: dict[str, str], catalog: Catalog
) -> "tuple[exp.Select, list[str], exp.Expr | None]":
    """The SELECT of the groups, with all that is grouped by, and that HAVING compares; what they
    are called that are grouped by, and HAVING in these words."""
    from sqlglot import exp

    rows = inner.copy()
    items = [exp.alias_(e.unalias(), names[e.alias_or_name], quoted=True) for e in rows.expressions]
    keys: list[str] = []

    def show(value: "exp.Expr") -> str:
        for item in items:
            if item.this == value:
                return str(item.alias)
        name = free_name(f"{_ROWS} {len(items)}", [AT, *(i.alias for i in items)])
        items.append(exp.alias_(value.copy(), name, quoted=True))
        return name

    named = {e.alias.lower(): e.unalias() for e in inner.expressions if e.alias}
    rows.set("group", exp.Group(expressions=[k.copy() for k in list_keys(inner, catalog)]))
    for key in rows.args["group"].expressions:
        keys.append(show(key))
    grouped = {k.name.lower(): k for k in rows.args["group"].expressions}
    meant = {**named, **grouped}  # HAVING means what is grouped by rather than a name
    having = rows.args.get("having")
    said = None
    if having is not None:
        said = exp.Paren(this=having.this.copy())
        for call in list(said.find_all(exp.AggFunc, exp.Filter)):
            if call.find_ancestor(exp.AggFunc, exp.Filter) is None:
                call.replace(exp.column(show(call), _ROWS, quoted=True))
        for column in [c for c in said.find_all(exp.Column) if c.table != _ROWS]:
            value = column if column.table else meant.get(column.name.lower(), column)
            column.replace(exp.column(show(value), _ROWS, quoted=True))
    rows.set("having", None)
    rows.set("expressions", items)
    return rows, keys, said


def _write_latest(
    stream: str, names: dict[str, str], keys: "list[str]", said: "exp.Expr | None"
) -> "exp.Select":
    """The latest row of each group, of those of which something holds."""
    from sqlglot import exp

    def column(name: str) -> "exp.Expr":
        return exp.column(name, quoted=True)

    order = [exp.Ordered(this=column(AT), desc=True, nulls_first=False)]
    number = exp.Window(this=exp.Rank(), partition_by=[column(k) for k in keys])
    number.set("order", exp.Order(expressions=order))
    shown = {*names.values(), *keys}
    shown |= {c.name for c in said.find_all(exp.Column)} if said is not None else set()
    table = exp.Table(this=exp.to_identifier(stream, quoted=True))
    first = exp.EQ(this=number, expression=exp.Literal.number(1))
    outer = [exp.alias_(column(made), name, quoted=True) for name, made in names.items()]
    if said is None:
        outer += [column(key) for key in keys if key not in names.values()]
        return exp.Select(expressions=outer, qualify=exp.Qualify(this=first)).from_(table)
    inner = exp.Select(expressions=[column(n) for n in sorted(shown)]).from_(table)
    inner.set("qualify", exp.Qualify(this=first))
    alias = exp.TableAlias(this=exp.to_identifier(_ROWS, quoted=True))
    return exp.Select(expressions=outer).from_(exp.Subquery(this=inner, alias=alias)).where(said)
