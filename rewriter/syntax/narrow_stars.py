"""`SELECT * EXCEPT (a)`, `* REPLACE (a * 2 AS a)`: the columns that are left."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

_Columns = Mapping[str, Sequence[str]]
"""The columns of what FROM names, by its alias."""


def narrow_stars(tree: "exp.Query", catalog: Catalog) -> None:
    """Columns in the place of each `*` that leaves some out, or computes them; the query is
    changed.

    Args:
        tree: a query with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: a column is left out that is not there; or which there are is not known.
    """
    from sqlglot import exp

    for select in reversed(list(tree.find_all(exp.Select))):  # those within first
        stars = [e for e in select.expressions if _star_of(e) is not None]
        _refuse_called(select, stars)
        if not any(_narrows(_star_of(e)) for e in stars):
            continue
        if select.args.get("group") is not None:
            raise _refuse(select.expressions[0], "all columns, grouped by some of them")
        known = _list_columns(select, catalog)
        made: list[exp.Expr] = []
        for item in select.expressions:
            star = _star_of(item)
            made += [item] if star is None or not _narrows(star) else _expand(item, star, known)
        select.set("expressions", made)


def _star_of(item: "exp.Expr") -> "exp.Star | None":
    from sqlglot import exp

    inner = item.this if isinstance(item, exp.Column) else item
    return inner if isinstance(inner, exp.Star) else None


def _narrows(star: "exp.Star | None") -> bool:
    return star is not None and any(star.args.values())


def _expand(item: "exp.Expr", star: "exp.Star", known: _Columns | None) -> "list[exp.Expr]":
    from sqlglot import exp

    line = line_of(item)
    own = item.table if isinstance(item, exp.Column) else ""
    alias = None if known is None else find_name(own, known)
    if known is None or (own and alias is None) or star.args.get("rename"):
        raise SqlRefusal(
            item.sql("spark"),
            why="which columns are left is known of tables, and of subqueries that name theirs, "
            "without JOIN … USING",
            fix="write the columns",
            line=line,
        )
    shown = {a: list(names) for a, names in known.items() if not own or a == alias}
    every = [name for names in shown.values() for name in names]
    left_out = [e.name for e in star.args.get("except_") or ()]
    if any(isinstance(e, exp.Column) and e.table for e in star.args.get("except_") or ()):
        raise _refuse(item, "what is left out are columns by their names, without tables")
    computed = {e.alias.lower(): e for e in star.args.get("replace") or ()}
    for name in (*left_out, *computed):
        if find_name(name, every) is None:
            raise SqlRefusal(
                f"{show_sql(item)}, where there is no column {name!r}",
                why=f"the columns are {', '.join(every)}",
                fix="leave out one of these",
                line=line,
            )
    gone = {name.lower() for name in left_out}
    if gone.issuperset(name.lower() for name in every):
        raise _refuse(item, "no column is left")
    return [
        computed[name.lower()].copy()
        if name.lower() in computed
        else exp.column(name, a or None, quoted=True)
        for a, names in shown.items()
        for name in names
        if name.lower() not in gone
    ]


def _refuse_called(select: "exp.Select", stars: "Sequence[exp.Expr]") -> None:
    """Raise SqlRefusal for `COUNT(* EXCEPT (a))`."""
    from sqlglot import exp

    for star in select.find_all(exp.Star):
        mine = star.parent_select is select and _narrows(star)
        if mine and star.parent is not select and star.parent not in stars:
            raise _refuse(star, "it is a list of columns, which no function takes")


def _refuse(item: "exp.Expr", why: str) -> SqlRefusal:
    return SqlRefusal(show_sql(item), why=why, fix="write the columns", line=line_of(item))


def _list_columns(select: "exp.Select", catalog: Catalog) -> _Columns | None:
    """None: they are not known."""

    joins = select.args.get("joins") or ()
    start = select.args.get("from_")
    if start is None or any(j.args.get("using") or j.method for j in joins):
        return None
    found: dict[str, Sequence[str]] = {}
    for source in (start.this, *(j.this for j in joins)):
        names = _columns_of(source, select, catalog)
        if names is None or (joins and not source.alias_or_name):
            return None
        renamed = source.args["alias"].columns if source.args.get("alias") else ()
        found[source.alias_or_name] = [c.name for c in renamed] or names
    return found


def _columns_of(source: "exp.Expr", select: "exp.Select", catalog: Catalog) -> Sequence[str] | None:
    from sqlglot import exp

    if isinstance(source, exp.Subquery):
        return _named(source.unnest(), catalog)
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        return None
    above: exp.Expr | None = select
    while above is not None:  # the nearest WITH first
        around = above.args.get("with_")
        for cte in around.expressions if around is not None else ():
            if cte.alias.lower() == source.name.lower():
                renamed = cte.args["alias"].columns
                return [c.name for c in renamed] or _named(cte.this, catalog)
        above = above.parent
    name = find_name(source.name, [*catalog.streams, *catalog.relations])
    if name is None or source.args.get("db") is not None:
        return None
    table = catalog.table(name)
    derived = {c.name for c in table.columns if c.expression is not None}
    return [n for n in column_names(table) if n not in derived]


def _named(query: "exp.Expr", catalog: Catalog) -> Sequence[str] | None:
    """The columns of a subquery, of the first part of a UNION."""
    from sqlglot import exp

    first = next(iter(query.find_all(exp.Select, bfs=True)), None)
    if first is None:
        return None
    names: list[str] = []
    for item in first.expressions:
        if _star_of(item) is None:
            names.append(item.alias_or_name)
            continue
        known = _list_columns(first, catalog)
        own = item.table if isinstance(item, exp.Column) else ""
        if known is None or (own and own not in known):
            return None
        names += [n for a, inner in known.items() if not own or a == own for n in inner]
    return names if all(names) else None
