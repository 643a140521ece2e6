"""Check a view of the catalog before Spark sees it: it is SQL, over what the catalog declares."""

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_simple_view import read_simple_view


def check_view(relation: Relation, view: str, catalog: Catalog) -> None:
    """Refuse a view that cannot work: not SQL, unknown tables or columns, a stream, or a declared
    column that it does not make. Names are compared without case, as Spark does.

    Raises:
        SqlRefusal: what is wrong; `line` counts within the view.
    """
    if _is_right(relation, view, catalog):
        return
    from sqlglot import exp

    from ontoweir.mappings.sql.read_select import parse_sql_text

    tree = parse_sql_text(view)
    relations = {n.lower(): r for n, r in catalog.relations.items() if n != relation.name}
    own = {c.alias_or_name.lower() for c in tree.find_all(exp.CTE)}
    known: set[str] = set()
    for table in tree.find_all(exp.Table):
        name = table.name.lower()
        if name in own:
            continue
        if not isinstance(table.this, exp.Identifier):
            return  # a function makes rows: what columns they have is for Spark to say
        if name not in relations:
            raise SqlRefusal(
                f"unknown table {table.name!r}",
                why="it is a stream, which a view cannot hold"
                if table.name in catalog.streams
                else "a view is made of other static relations",
                fix=did_you_mean(table.name, (r.name for r in relations.values())),
                line=_line(table.this),
            )
        known |= {c.name for c in relations[name].columns}
    made = {a.alias for a in tree.find_all(exp.Alias)} | {
        i.name for a in tree.find_all(exp.TableAlias) for i in a.columns
    }
    folded = {n.lower() for n in known | made}
    for column in tree.find_all(exp.Column):
        if column.name.lower() not in folded and not isinstance(column.this, exp.Star):
            raise SqlRefusal(
                f"unknown column {column.name!r}",
                why="no relation in the view has it",
                fix=did_you_mean(column.name, known),
                line=_line(column.this),
            )
    if not tree.is_star:
        outputs = {n.lower() for n in tree.named_selects}
        for declared in relation.columns:
            if declared.name.lower() not in outputs:
                raise SqlRefusal(
                    f"the view makes no column {declared.name!r}",
                    why=f"[relations.{relation.name}.columns] declares it",
                    fix=did_you_mean(declared.name, tree.named_selects),
                    line=None,
                )


def _is_right(relation: Relation, view: str, catalog: Catalog) -> bool:
    """Whether a view is certain to work, without SQL's parser; what may be wrong is for that."""
    simple = read_simple_view(view)
    if simple is None or simple.table == relation.name:
        return False
    source = catalog.relations.get(simple.table)
    if source is None:
        return False
    used = {column for _, column, _ in simple.outputs} | {column for column, _ in simple.tests}
    if not used | set(simple.grouped or ()) <= {c.name for c in source.columns}:
        return False
    return {c.name for c in relation.columns} <= {name for name, _, _ in simple.outputs}


def _line(node: object) -> int | None:
    line = getattr(node, "meta", {}).get("line")
    return line if isinstance(line, int) else None
