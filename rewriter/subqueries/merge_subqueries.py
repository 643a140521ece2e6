"""Merge subqueries, WITH and views into the query that reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, cast

from ontoweir.mappings.model.catalog import Catalog, QueryView
from ontoweir.mappings.sql.read_condition import MAX_ALTERNATIVES
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names, find_name, find_table
from ontoweir.mappings.sql.read_select import parse_sql_text, read_from
from ontoweir.mappings.sql.refuse_clauses import refuse_clauses, refuse_sql
from ontoweir.mappings.sql.refuse_view import place_in_view, refuse_cycle
from ontoweir.rewriter.subqueries.is_set import aggregates, is_set
from ontoweir.rewriter.subqueries.join_inner import Inner, join_inner, list_items, rename_inner
from ontoweir.rewriter.subqueries.refuse_mixed_union import refuse_mixed_union
from ontoweir.rewriter.subqueries.resolve_names import Columns, FromItem, resolve_names
from ontoweir.rewriter.windows.read_window_tables import read_window_tables

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around a query: `named`: what WITH names, in lower case, and what is around that;
    `is_set`: duplicates do not count; `views`: it is in these, each in the one before."""

    named: "Mapping[str, tuple[exp.CTE, _Around]]" = field(default_factory=dict)
    is_set: bool = False
    views: tuple[str, ...] = ()


def merge_subqueries(tree: "exp.Query", catalog: Catalog) -> "tuple[exp.Query, ...]":
    """A query without subqueries in FROM, WITH and views. Several: an aggregate query whose matches
    are those of all of them together, which differ in their tables and conditions only.

    The table of a subquery over one table has the alias of the subquery.

    Args:
        tree: the query.
        catalog: the tables and views.

    Raises:
        SqlRefusal: a subquery is more than select-project-join; or a name is unknown or ambiguous.
    """
    from sqlglot import exp

    names = {i.name.lower() for i in tree.find_all(exp.Identifier)}
    views = {v.lower() for v in catalog.views}
    if not tree.find(exp.With, exp.Subquery) and not names & views:
        return (tree,)
    return _Merger(catalog).read(tree.copy(), _Around())


class _Merger:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def read(self, tree: "exp.Query", around: _Around) -> "tuple[exp.Query, ...]":
        """The whole query, or a part of its UNION."""
        from sqlglot import exp

        around = _take_named(tree, around)
        if isinstance(tree, exp.Union):
            distinct = bool(tree.args.get("distinct"))
            inside = replace(around, is_set=around.is_set or distinct)
            for key in ("this", "expression"):
                tree.set(key, _unite(self.read(tree.args[key], inside), distinct=distinct))
            return (tree,)
        if isinstance(tree, exp.Subquery) and not tree.alias:
            refuse_clauses(tree)
            return self.read(tree.this, around)
        if not isinstance(tree, exp.Select):
            return (tree,)  # it is refused where it is read
        parts = self.select(tree, around)
        if aggregates(tree):
            return tuple(parts)
        return (_unite(parts, distinct=tree.args.get("distinct") is not None),)

    def select(self, select: "exp.Select", around: _Around) -> "list[exp.Select]":
        """A SELECT as SELECTs over tables, whose rows, or matches, are its own together."""
        around = replace(around, is_set=around.is_set or is_set(select))
        inner = self._open_subqueries(select, around)
        flat = cast("exp.Select", read_window_tables(select))
        items: dict[str, Columns] = {}
        for item in list_items(flat):
            alias = self._open(item, inner, around)
            if alias.lower() in map(str.lower, items):
                raise SqlRefusal(
                    f"the alias {alias!r} occurs twice in FROM",
                    why="columns could not be told apart",
                    fix=f"write {item.name} AS {alias}2",
                    line=line_of(item),
                )
            items[alias] = ()
            if alias not in inner:
                table = find_table(_name(item), self.catalog, line_of(item))
                items[alias] = tuple((c, None) for c in column_names(table))
        if not items:
            read_from(select, self.catalog)  # which says that there is no FROM
        if prod(len(parts) for parts in inner.values()) > MAX_ALTERNATIVES:
            raise SqlRefusal(
                f"the parts of UNION ALL meet in more than {MAX_ALTERNATIVES:,} ways",
                why="each way is a query of its own",
                fix="write fewer parts, or several queries",
                line=line_of(select),
            )
        made = []
        for parts in product(*inner.values()):
            chosen = rename_inner(dict(zip(inner, parts, strict=True)), items)
            shown = {a: sub.columns for a, sub in chosen.items()}
            whole = flat.copy()
            known = {a: FromItem(a, shown.get(a, item)) for a, item in items.items()}
            resolve_names(whole, known)
            join_inner(whole, chosen)
            made.append(whole)
        return made

    def _open_subqueries(self, select: "exp.Select", around: _Around) -> dict[str, list[Inner]]:
        """The subqueries of FROM, by the aliases of the tables that take their place."""
        from sqlglot import exp

        inner: dict[str, list[Inner]] = {}
        for item in list_items(select):
            if not isinstance(item, exp.Subquery):
                continue
            refuse_clauses(item)
            alias, n = item.alias or "subquery", 2
            while not item.alias and alias in inner:
                alias, n = f"subquery_{n}", n + 1
            block = self._block(item.this, around)
            inner[alias] = _rename(block, item.args.get("alias"), (), named=bool(item.alias))
            item.replace(exp.to_table(alias, quoted=True))
        return inner

    def _open(self, item: "exp.Expr", inner: dict[str, list[Inner]], around: _Around) -> str:
        """The alias of an item of FROM; where WITH names it, or it is a view, its SELECTs are noted
        in `inner`."""
        from sqlglot import exp

        if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
            raise refuse_sql(item, "this FROM item")
        name = _name(item)
        alias = item.alias or name
        if item.args.get("alias") is None and alias in inner:
            return alias
        columns: tuple[str, ...] = ()
        if name.lower() in around.named:
            cte, before = around.named[name.lower()]
            columns = tuple(c.name for c in cte.args["alias"].columns)
            block = self._block(cte.this.copy(), replace(before, is_set=around.is_set))
        elif (view := find_name(name, self.catalog.views)) is not None:
            block = self._open_view(self.catalog.views[view], line_of(item), around)
        else:
            return alias
        refuse_clauses(item)
        if alias not in inner:
            inner[alias] = _rename(block, item.args.get("alias"), columns, named=True)
        return alias

    def _open_view(self, view: QueryView, line: int | None, around: _Around) -> "list[exp.Select]":
        """The SELECTs of a view. What is wrong with it is said where it is written; later, what is
        in it has the place where it is read."""
        from sqlglot import exp

        if view.name in around.views:
            raise refuse_cycle((*around.views, view.name))
        inside = _Around({}, around.is_set, (*around.views, view.name))
        try:
            parts = self._block(parse_sql_text(view.text), inside)
        except SqlRefusal as error:
            raise place_in_view(error, view) from None
        for part in parts:
            for name in part.find_all(exp.Identifier):
                name.meta.pop("line", None)
                if line is not None:
                    name.meta["line"] = line
        return parts

    def _block(self, tree: "exp.Query", around: _Around) -> "list[exp.Select]":
        """A subquery as SELECTs over tables, under UNION ALL.

        Raises:
            SqlRefusal: it is more than that.
        """
        from sqlglot import exp

        around = _take_named(tree, around)
        if isinstance(tree, exp.Subquery) and not tree.alias:
            refuse_clauses(tree)
            return self._block(tree.this, around)
        if isinstance(tree, exp.Union):
            refuse_clauses(tree)
            if tree.args.get("distinct") and not around.is_set:
                raise _refuse_distinct(tree, "UNION")
            parts = [*self._block(tree.this, around), *self._block(tree.expression, around)]
            refuse_mixed_union(parts, self.catalog)
            return parts
        if not isinstance(tree, exp.Select):
            table = isinstance(tree, exp.Table)
            raise refuse_sql(tree, "this FROM item" if table else type(tree).__name__.upper())
        if aggregates(tree):
            raise SqlRefusal(
                "an aggregate in a subquery",
                why="its groups may change with every row, and what reads them would have to take "
                "back what it has answered",
                fix="aggregate in the outermost SELECT, or write a query of its own for it",
                line=line_of(tree),
            )
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise refuse_sql(tree, "DISTINCT ON")
        if distinct is not None and not around.is_set:
            raise _refuse_distinct(tree, "SELECT DISTINCT")
        parts = self.select(tree, around)
        for part in parts:
            refuse_clauses(part)
            part.set("distinct", None)
        return parts


def _take_named(tree: "exp.Query", around: _Around) -> _Around:
    """With what WITH names before a query, which is taken off it."""
    for key in ("with_", "with"):
        named = tree.args.get(key)
        if named is None:
            continue
        if named.args.get("recursive"):
            raise refuse_sql(tree, "WITH RECURSIVE")
        tree.set(key, None)
        for cte in named.expressions:
            known = {**around.named, cte.alias.lower(): (cte, around)}
            around = replace(around, named=known)
    return around


def _name(item: "exp.Expr") -> str:
    return ".".join(part.name for part in cast("exp.Table", item).parts)


def _rename(
    block: "list[exp.Select]",
    alias: "exp.Expr | None",
    columns: tuple[str, ...],
    *,
    named: bool,
) -> list[Inner]:
    """SELECTs with the names that their columns have outside: of an alias, else `columns`, else of
    the first SELECT."""
    given = tuple(c.name for c in alias.args.get("columns") or ()) if alias else ()
    own = tuple(item.alias for item in block[0].expressions)
    names = given or columns or own
    if len(names) != len(own):
        raise SqlRefusal(
            f"{len(names)} names for {len(own)} columns",
            why="an alias names all columns of a subquery, or none",
            fix="write as many names as the subquery has columns",
            line=line_of(alias) if alias and given else line_of(block[0]),
        )
    if alias and given:
        alias.set("columns", None)
    return [Inner(select, names, named) for select in block]


def _unite(parts: "tuple[exp.Query, ...] | list[exp.Select]", *, distinct: bool) -> "exp.Query":
    """SELECTs under UNION, or UNION ALL."""
    from sqlglot import exp

    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = (_unite(side, distinct=distinct) for side in (parts[:half], parts[half:]))
    return exp.Union(this=left, expression=right, distinct=distinct)


def _refuse_distinct(tree: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} in a subquery whose rows are counted",
        why="each row of it counts once over the whole history, and what reads it counts its rows: "
        "duplicates are removed from results here, and from what SELECT DISTINCT, MIN, MAX and "
        "COUNT(DISTINCT …) read",
        fix="write DISTINCT in the outermost SELECT; of static relations: declare a relation with "
        "this SQL as its view",
        line=line_of(tree),
    )
