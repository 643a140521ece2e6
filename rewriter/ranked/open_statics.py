"""Static relations in the place of subqueries that show columns of one."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name

if TYPE_CHECKING:
    from sqlglot import exp


def open_statics(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query with r AS u for (SELECT a AS b, … FROM r) AS u, and u.a for u.b, where every column
    of u says that it is; other subqueries as they are.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for item in list(made.find_all(exp.Subquery)):
        around = item.parent_select
        columns = _list_columns(item, catalog)
        if columns is None or around is None or not item.alias:
            continue
        read = list(around.find_all(exp.Column))
        below = {id(c) for c in item.find_all(exp.Column)}
        own = [c for c in read if c.table.lower() == item.alias.lower() and id(c) not in below]
        unsaid = {c.name.lower() for c in read if not c.table and id(c) not in below}
        starred = any(e.is_star for e in around.expressions)
        if starred or unsaid & columns.keys() or any(c.name.lower() not in columns for c in own):
            continue
        for column in own:
            column.set("this", exp.to_identifier(columns[column.name.lower()], quoted=True))
        if isinstance(around, exp.Select):
            _name_items(around, own, columns)
        table = item.this.args["from_"].this.copy()
        table.set("alias", exp.TableAlias(this=exp.to_identifier(item.alias, quoted=True)))
        item.replace(table)
    return made


def _name_items(select: "exp.Select", own: "list[exp.Column]", columns: dict[str, str]) -> None:
    """Keep how columns are called that are selected; in place."""
    from sqlglot import exp

    names = {column.lower(): name for name, column in columns.items()}
    for item in list(select.expressions):
        if isinstance(item, exp.Column) and any(item is c for c in own):
            item.replace(exp.alias_(item.copy(), names[item.name.lower()], quoted=True))


def _list_columns(item: "exp.Subquery", catalog: Catalog) -> dict[str, str] | None:
    """What a subquery in FROM calls the columns of a static relation (None: it is another one)."""
    from sqlglot import exp

    select = item.this
    if not isinstance(item.parent, (exp.From, exp.Join)) or not isinstance(select, exp.Select):
        return None
    alias = item.args.get("alias")
    if {k for k, v in select.args.items() if v} != {"expressions", "from_"}:
        return None
    if alias is None or alias.args.get("columns"):
        return None
    table = select.args["from_"].this
    if not isinstance(table, exp.Table) or find_name(table.name, catalog.relations) is None:
        return None
    if not all(isinstance(e.unalias(), exp.Column) and not e.is_star for e in select.expressions):
        return None
    return {e.alias_or_name.lower(): e.unalias().name for e in select.expressions}
