"""FOR SYSTEM_TIME AS OF in SQL, as a condition on the time at which a relation is read."""

from typing import TYPE_CHECKING, TypeVar

from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

Tree = TypeVar("Tree", bound="exp.Expr")


def read_as_of(tree: Tree) -> Tree:
    """A query where every `p FOR SYSTEM_TIME AS OF s.ts` is `p`, with the condition that it is read
    at that time; changed in place.

    Raises:
        SqlRefusal: it is as of another time than that of a row.
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
