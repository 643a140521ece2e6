"""The SQL of mappings that read views, `[views.NAME]`, as SQL over tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, QueryView
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.quote_names import quote_names
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name, find_table
from ontoweir.mappings.sql.read_select import parse_sql_text

if TYPE_CHECKING:
    from sqlglot import exp


def open_views(text: str, catalog: Catalog) -> str | None:
    """The query with the SELECTs of views in the place of their names: `SELECT a FROM v WHERE b` is
    the SELECT of v, of which `a` is shown where `b` holds too; of a UNION each part is (None: it
    reads no view).

    What a view has that mappings do not read is in the text then, and refused by its name.

    Args:
        text: the SQL of a mapping; "x" in double quotes is a name.
        catalog: the tables and views.

    Raises:
        SqlRefusal: the text is not SQL, reads a view beside others, or a column that it lacks.
    """
    from sqlglot import exp

    if not catalog.views or not any(n.lower() in text.lower() for n in catalog.views):
        return None
    tree = parse_sql_text(quote_names(text))
    holder = exp.Subquery(this=tree)
    made = _open(holder, catalog)
    return holder.this.sql("spark") if made else None


def _open(holder: "exp.Subquery", catalog: Catalog) -> bool:
    """Whether it reads a view, which is opened then; in place."""
    from sqlglot import exp

    found = False
    for select in list(holder.find_all(exp.Select)):
        start = select.args.get("from_")
        joins = select.args.get("joins") or ()
        items = [*([] if start is None else [start.this]), *(j.this for j in joins)]
        named = [(i, v) for i in items if (v := _find_view(i, catalog)) is not None]
        if not named:
            continue
        table, view = named[0]
        if len(items) > 1:
            raise SqlRefusal(
                f"the view {view.name!r} beside other tables",
                why="the SELECT of a mapping reads one view alone",
                fix="write the view's SQL in the mapping, or in another view with these tables; or "
                "map each by itself, and join them in queries",
                line=line_of(table),
            )
        body = exp.Subquery(this=parse_sql_text(view.text))
        _open(body, catalog)
        leaves = _list_leaves(body.this)
        names = [name for name, _ in _list_items(leaves[0], catalog)]
        for leaf in leaves:
            values = [value for _, value in _list_items(leaf, catalog)]
            _show(select, leaf, dict(zip(names, values, strict=False)), (table, view))
        select.replace(body.this)
        found = True
    return found


def _find_view(item: "exp.Expr", catalog: Catalog) -> QueryView | None:
    """The view that a FROM item names."""
    from sqlglot import exp

    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
        return None
    if find_name(item.name, [*catalog.streams, *catalog.relations]) is not None:
        return None
    name = find_name(item.name, catalog.views)
    return None if name is None else catalog.views[name]


def _list_leaves(tree: "exp.Expr") -> "list[exp.Select]":
    """The SELECTs that UNION unites."""
    from sqlglot import exp

    if isinstance(tree, exp.Union):
        sides = (s.unnest() for s in (tree.left, tree.right))
        return [leaf for side in sides for leaf in _list_leaves(side)]
    if isinstance(tree, exp.Select):
        return [tree]
    raise SqlRefusal(
        f"{tree.key.upper()} in a view that a mapping reads",
        why="mappings read SELECT and UNION",
        fix="write it with WHERE; of static relations: declare a relation with this SQL as its "
        "view",
    )


def _list_items(leaf: "exp.Select", catalog: Catalog) -> "list[tuple[str, exp.Expr]]":
    """What a SELECT shows, with its names."""
    from sqlglot import exp

    made: list[tuple[str, exp.Expr]] = []
    for item in leaf.expressions:
        start = leaf.args.get("from_")
        if isinstance(item, exp.Star) and start is not None and not leaf.args.get("joins"):
            table = find_table(start.this.name, catalog)
            made += [
                (c, exp.column(c, start.this.alias_or_name, quoted=True))
                for c in column_names(table)
            ]
        elif item.is_star:
            raise SqlRefusal(
                "* of several tables in a view that a mapping reads",
                why="its columns are named there",
                fix="write the columns in the view",
            )
        else:
            made.append((item.alias_or_name, item.unalias()))
    return made


def _show(
    outer: "exp.Select",
    leaf: "exp.Select",
    values: "Mapping[str, exp.Expr]",
    of: "tuple[exp.Expr, QueryView]",
) -> None:
    """Let a SELECT of a view show what one that reads it does; in place."""
    from sqlglot import exp

    clauses = [k for k, v in outer.args.items() if v and k not in _READ]
    if clauses:
        raise SqlRefusal(
            f"{_WORDS.get(clauses[0], clauses[0].upper())} beside the view {of[1].name!r}",
            why="mappings read SELECT … FROM a view WHERE …",
            fix="write it in the view",
            line=line_of(of[0]),
        )
    items = list[exp.Expr]()
    for item in outer.expressions:
        if isinstance(item, exp.Star):
            items += [exp.alias_(v.copy(), n, quoted=True) for n, v in values.items()]
        else:
            name = item.alias_or_name
            items.append(exp.alias_(_put(item.unalias(), values, of), name, quoted=True))
    where = outer.args.get("where")
    leaf.set("expressions", items)
    if where is not None:
        leaf.where(_put(where.this, values, of), copy=False)
    if outer.args.get("distinct") is not None:
        leaf.set("distinct", exp.Distinct())


_READ = ("kind", "expressions", "from_", "where", "distinct", "hint", "operation_modifiers")
_WORDS = {"group": "GROUP BY", "order": "ORDER BY", "with_": "WITH"}


def _put(
    tree: "exp.Expr", values: "Mapping[str, exp.Expr]", of: "tuple[exp.Expr, QueryView]"
) -> "exp.Expr":
    """What is said of a view's columns, of what these are."""
    from sqlglot import exp

    table, view = of
    holder = exp.Paren(this=tree.copy())
    for column in list(holder.find_all(exp.Column)):
        mine = not column.table or column.table.lower() == table.alias_or_name.lower()
        name = find_name(column.name, values) if mine else None
        if name is None:
            raise _refuse_column(column, list(values), view)
        value = values[name].copy()
        plain = isinstance(value, (exp.Column, exp.Literal))
        column.replace(value if plain else exp.Paren(this=value))
    made: exp.Expr = holder.this
    return made


def _refuse_column(column: "exp.Column", names: Sequence[str], view: QueryView) -> SqlRefusal:
    return SqlRefusal(
        f"unknown column {column.sql('spark')} of the view {view.name!r}",
        why=f"it has {', '.join(names)}",
        fix=did_you_mean(column.name, names),
        line=line_of(column),
    )
