"""FOR SYSTEM_TIME AS OF in SQL, as a condition on the time at which a relation is read."""

from typing import TYPE_CHECKING, TypeVar

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

Tree = TypeVar("Tree", bound="exp.Expr")


def read_as_of(tree: Tree, catalog: Catalog) -> Tree:
    """A query where every `p FOR SYSTEM_TIME AS OF s.ts` is `p`, with the condition that it is read
    at that time; changed in place. A static relation is the same at every time: there is no
    condition.

    Raises:
        SqlRefusal: it is as of another time than that of a row, or of a table without versions.
    """
    from sqlglot import exp

    for table in list(tree.find_all(exp.Table)):
        version = table.args.get("version")
        if version is None:
            continue
        time = version.args.get("expression")
        if str(version.args.get("kind")).upper() != "AS OF" or not isinstance(time, exp.Column):
            raise SqlRefusal(
                f"{table.name} {show_sql(version)}",
                why="a relation that changes is read as of the time of a row",
                fix="write FOR SYSTEM_TIME AS OF s.ts, with the timestamp of a stream in FROM",
                line=line_of(table),
            )
        table.set("version", None)
        if _is_static(table, catalog):
            continue
        read = exp.column(AS_OF, table.alias_or_name, quoted=True)
        if (line := line_of(time) or line_of(table)) is not None:
            read.this.meta["line"] = line
        equal = exp.EQ(this=read, expression=time.copy())
        join = table.parent
        if isinstance(join, exp.Join):
            on = join.args.get("on")
            join.set("on", equal if on is None else exp.and_(on, equal, copy=False))
            continue
        select = table.find_ancestor(exp.Select)
        if select is not None:
            select.where(equal, copy=False)
    return tree


def _is_static(table: "exp.Table", catalog: Catalog) -> bool:
    """Whether a table that is read as of a time is a static relation.

    Raises:
        SqlRefusal: it is a stream, or what a query makes.
    """
    from sqlglot import exp

    name = table.name
    made = name in {one.alias for one in table.root().find_all(exp.CTE)} or name in catalog.views
    if not made and name in catalog.relations:
        return True
    stream = catalog.streams.get(name)
    if made or (stream is not None and stream.versions is None):
        raise SqlRefusal(
            f"{name} FOR SYSTEM_TIME AS OF",
            why="rows are read as of a time of a relation that changes, of which one is valid for "
            f"each key; {name} is " + ("what a query makes" if made else "a stream"),
            fix='declare [relations.NAME] with versions = { stream = "…", key = ["…"] } and read '
            "that; or write ASOF JOIN … ON … AND s.ts >= r.ts",
            line=line_of(table),
        )
    return False
