"""Merge subqueries, WITH and views into the query that reads them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, QueryView
from ontoweir.mappings.sql.read_condition import MAX_ALTERNATIVES
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import (
    SqlRefusal,
    SqlUnitsDiffer,
    column_names,
    find_name,
    find_table,
)
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.refuse_clauses import refuse_clauses, refuse_sql
from ontoweir.mappings.sql.refuse_view import place_in_view, refuse_cycle
from ontoweir.mappings.sql_expressions.parse_names import parse_names
from ontoweir.rewriter.calendar.by_bucket import list_bucketed
from ontoweir.rewriter.earlier.read_earlier import read_earlier
from ontoweir.rewriter.episodes.group_runs import read_windows
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates, name_quantiles
from ontoweir.rewriter.joins.absence_trees import AbsenceTrees, Opening, StreamColumns
from ontoweir.rewriter.joins.find_absence import absence_of, has_absence
from ontoweir.rewriter.joins.is_set import aggregates, is_set
from ontoweir.rewriter.joins.own_nodes import list_windows
from ontoweir.rewriter.joins.read_as_of import read_as_of
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.phrasings.settle_phrasings import settle_phrasings
from ontoweir.rewriter.reshaped.read_unpivots import read_unpivots
from ontoweir.rewriter.subqueries.join_inner import (
    Inner,
    is_quiet,
    join_inner,
    list_items,
    name_inner,
    rename_inner,
    unite_selects,
)
from ontoweir.rewriter.subqueries.open_absence import open_absence
from ontoweir.rewriter.subqueries.qualify_names import Shown, qualify_names
from ontoweir.rewriter.subqueries.refuse_mixed_union import refuse_mixed_union
from ontoweir.rewriter.subqueries.resolve_names import Columns, FromItem, resolve_names
from ontoweir.rewriter.subqueries.select_answers import Answers, select_answers, unite_rows
from ontoweir.rewriter.subqueries.unite_groups import unite_groups
from ontoweir.rewriter.windows.read_window_tables import list_window_columns, read_window_tables

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around a query: `named`: what WITH names, in lower case, and what is around that;
    `is_set`: duplicates do not count; `views`: it is in these, each in the one before; `inside`:
    its rows are not yet answers; `buckets`: its columns by whose buckets of time these are."""

    named: "Mapping[str, tuple[exp.CTE, _Around]]" = field(default_factory=dict)
    is_set: bool = False
    views: tuple[str, ...] = ()
    inside: bool = False
    buckets: frozenset[str] = frozenset()


ReadAnswers: TypeAlias = "Callable[[Sequence[exp.Query], Catalog, str], Answers]"
"""Reads a query, without subqueries, whose answers another query reads, an aggregate query, or one
whose duplicates are removed; of the parts of merge_subqueries, a catalog, and what the stream may
be called. It raises SqlRefusal or QueryError where it is wrong, or its answers are not final."""

ReadAbsence: TypeAlias = "Callable[[AbsenceTrees, Catalog, str], tuple[StreamColumns, Catalog]]"
"""Makes a stream of the rows beside which others are there, or are not (open_absence)."""


def merge_subqueries(
    tree: "exp.Query", catalog: Catalog, read_answers: ReadAnswers, read_absence: ReadAbsence
) -> "tuple[tuple[exp.Query, ...], Catalog]":
    """A query without subqueries in FROM, WITH and views; and the catalog with the streams that are
    answers of aggregate queries inside. Several queries: an aggregate query whose matches are those
    of all of them together, which differ in their tables and conditions only.

    The table of a subquery over one table has the alias of the subquery.

    Args:
        tree: the query.
        catalog: the tables and views.
        read_answers: makes a stream of an aggregate query inside.
        read_absence: makes a stream of rows beside which others are there, or are not; and gives
            the catalog with it.

    Raises:
        SqlRefusal: a subquery is more than select-project-join; or a name is unknown or ambiguous.
    """
    from sqlglot import exp

    tree = unite_groups(tree)
    names = {i.name.lower() for i in tree.find_all(exp.Identifier)}
    views = {v.lower() for v in catalog.views}
    inside = tree.find(exp.With, exp.Subquery) or names & views or has_absence(tree)
    if not inside and not any(i.is_star for s in tree.find_all(exp.Select) for i in s.expressions):
        return (tree,), catalog
    merger = _Merger(catalog, read_answers, read_absence)
    return merger.read(tree.copy(), _Around()), merger.catalog


class _Merger:
    """`known`: the answers of the queries inside that are read already, by their texts."""

    def __init__(
        self, catalog: Catalog, read_answers: ReadAnswers, read_absence: ReadAbsence
    ) -> None:
        self.catalog, self.read_answers = catalog, read_answers
        self.read_absence = read_absence
        self.absent: dict[tuple[str, ...], StreamColumns] = {}
        self.known: dict[tuple[str, ...], Answers] = {}

    def read(self, tree: "exp.Query", around: _Around) -> "tuple[exp.Query, ...]":
        """The whole query, or a part of its UNION."""
        from sqlglot import exp

        around = _take_named(tree, around)
        if isinstance(tree, exp.Union):
            distinct = bool(tree.args.get("distinct"))
            inside = replace(around, is_set=around.is_set or distinct)
            for key in ("this", "expression"):
                tree.set(key, unite_selects(self.read(tree.args[key], inside), distinct=distinct))
            return (tree,)
        if isinstance(tree, exp.Subquery) and not tree.alias:
            refuse_clauses(tree)
            return self.read(tree.this, around)
        if not isinstance(tree, exp.Select):
            return (tree,)  # it is refused where it is read
        parts = self.select(tree, around)
        if aggregates(tree):
            return tuple(parts)
        return (unite_selects(parts, distinct=tree.args.get("distinct") is not None),)

    def select(self, select: "exp.Select", around: _Around) -> "list[exp.Select]":
        """A SELECT as SELECTs over tables, whose rows, or matches, are its own together."""
        around = replace(around, is_set=around.is_set or is_set(select))
        if absence_of(select):
            return self._open_absence(select, around)
        flat, inner, items = self._list_items(select, around)
        if not items:
            read_from(select, self.catalog)  # which says that there is no FROM
        ways = prod(len(parts) for parts in inner.values())
        if ways > MAX_ALTERNATIVES:
            raise SqlRefusal(
                f"the parts of UNION ALL meet in more than {MAX_ALTERNATIVES:,} ways",
                why="each way is a query of its own",
                fix="write fewer parts, or several queries",
                line=line_of(select),
            )
        made = []
        for parts in product(*inner.values()):
            chosen = rename_inner(dict(zip(inner, parts, strict=True)), items)
            whole = flat.copy()
            known = {
                a: FromItem(a, chosen[a].columns, chosen[a].quiet)
                if a in chosen
                else FromItem(a, columns)
                for a, columns in items.items()
            }
            resolve_names(whole, known)
            join_inner(whole, chosen)
            self.catalog = read_windows(whole, self.catalog, alone=ways == 1)
            made.append(whole)
        return made

    def _open_absence(self, select: "exp.Select", around: _Around) -> "list[exp.Select]":
        """A SELECT that says that rows are there, or are not."""
        select = select.copy()

        qualify_names(select, lambda one: self._list_columns(one, around))

        def flatten(one: "exp.Select", merged: bool) -> "list[exp.Select]":
            return self.select(one.copy(), replace(around, is_set=merged, inside=True))

        kind = (around.is_set, around.inside, frozenset(around.named), around.buckets)
        return open_absence(select, Opening(flatten, self._read, lambda: self.catalog, *kind))

    def _read(self, trees: AbsenceTrees, name: str) -> StreamColumns:
        """The stream of rows beside which others are there, or are not."""
        all_trees = [*trees.found, *(t for part in trees.parts for t in part.trees)]
        kinds = (str((len(part.trees), part.present)) for part in trees.parts)
        key = (*(t.sql("spark") for t in all_trees), *kinds, name, str((trees.held, trees.until)))
        if key not in self.absent:
            self.absent[key], self.catalog = self.read_absence(trees, self.catalog, name)
        return self.absent[key]

    def _list_columns(self, select: "exp.Select", around: _Around) -> dict[str, Shown]:
        """The columns of the items of FROM."""
        _, inner, items = self._list_items(select.copy(), around)
        return {
            alias: Shown(tuple(n for n, _ in inner[alias][0].columns), inner[alias][0].quiet)
            if alias in inner
            else Shown(tuple(n for n, _ in columns))
            for alias, columns in items.items()
        }

    def _list_items(
        self, select: "exp.Select", around: _Around
    ) -> "tuple[exp.Select, dict[str, list[Inner]], dict[str, Columns]]":
        """A SELECT without subqueries in FROM; these, by the aliases that stand for them; and the
        items of FROM with the columns of those that are tables."""
        inner = self._open_subqueries(select, around)
        windows = list_window_columns(select)
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
                own = [(c, None) for c in column_names(table)]
                items[alias] = (*own, *windows.get(alias, ()))
        for alias, parts in inner.items() if list_windows(select) else ():
            if len(parts) > 1:
                inner[alias] = unite_rows(parts, alias, lambda: self.catalog, self._read)
        return flat, inner, items

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
            around = replace(around, buckets=list_bucketed(select, alias, self.catalog))
            block = self._block(item.this, around, alias)
            inner[alias] = name_inner(block, item.args.get("alias"), (), named=bool(item.alias))
            item.replace(exp.Table(this=exp.to_identifier(alias, quoted=True)))
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
            before = replace(before, buckets=frozenset())
            block = self._block(cte.this.copy(), replace(before, is_set=around.is_set), cte.alias)
        elif (view := find_name(name, self.catalog.views)) is not None:
            block = self._open_view(self.catalog.views[view], line_of(item), around)
        else:
            return alias
        refuse_clauses(item)
        if alias not in inner:
            inner[alias] = name_inner(block, item.args.get("alias"), columns, named=True)
        return alias

    def _open_view(self, view: QueryView, line: int | None, around: _Around) -> "list[exp.Select]":
        """The SELECTs of a view. What is wrong with it is said where it is written; later, what is
        in it has the place where it is read."""
        from sqlglot import exp

        if view.name in around.views:
            raise refuse_cycle((*around.views, view.name))
        inside = _Around({}, around.is_set, (*around.views, view.name))
        try:
            whole = name_quantiles(parse_names(view.text, self.catalog))
            whole = read_unpivots(whole, self.catalog)
            written = settle_phrasings(read_as_of(whole, self.catalog), self.catalog)
            written, self.catalog = read_earlier(written, self.catalog)
            parts = self._block(name_aggregates(written), inside, view.name)
        except (SqlUnitsDiffer, UnitsDiffer):
            raise  # it is compiled again, in steps that both have
        except SqlRefusal as error:
            raise place_in_view(error, view) from None
        except QueryError as error:
            line = None if error.source is None else error.source.line
            made = SqlRefusal(error.what, why=error.why, fix=error.fix, line=line)
            raise place_in_view(made, view) from None
        for part in parts:
            for name in part.find_all(exp.Identifier, exp.Predicate):
                name.meta.pop("line", None)
                if line is not None:
                    name.meta["line"] = line
        return parts

    def _block(
        self, tree: "exp.Query", around: _Around, name: str, *, first: bool = False
    ) -> "list[exp.Select]":
        """A subquery as SELECTs over tables, under UNION ALL (else: SqlRefusal); `name`: what it is
        called; `first`: others follow, and all are held against the first one then."""
        from sqlglot import exp

        around = replace(_take_named(tree, around), inside=True)
        if isinstance(tree, exp.Subquery) and not tree.alias:
            refuse_clauses(tree)
            return self._block(tree.this, around, name, first=first)
        if isinstance(tree, exp.Union):
            refuse_clauses(tree)
            if tree.args.get("distinct") and not around.is_set:
                return [self._read_set(tree, around, name)]
            parts = self._block(tree.this, around, name, first=True)
            parts += self._block(tree.expression, around, name)
            if first:
                return parts
            for part in parts:
                part.set("expressions", [e for e in part.expressions if not is_quiet(e)])
            refuse_mixed_union(parts, self.catalog)
            return parts
        if not isinstance(tree, exp.Select):
            table = isinstance(tree, exp.Table)
            raise refuse_sql(tree, "this FROM item" if table else type(tree).__name__.upper())
        if aggregates(tree):
            return self._read_answers(tree, around, name)
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise refuse_sql(tree, "DISTINCT ON")
        if distinct is not None and not around.is_set:
            return [self._read_set(tree, around, name)]
        parts = self.select(tree, around)
        for part in parts:
            refuse_clauses(part)
            part.set("distinct", None)
        return parts

    def _read_answers(self, tree: "exp.Select", around: _Around, name: str) -> "list[exp.Select]":
        """An aggregate query as a SELECT over the stream that its answers are, or of last rows."""
        parts = self.select(tree, replace(around, is_set=False))
        alone = not any(map(aggregates, parts))
        return parts if alone else [self._select_answers(parts, name, line_of(tree))]

    def _read_set(self, tree: "exp.Query", around: _Around, name: str) -> "exp.Select":
        """A query whose duplicates are removed as a SELECT over the stream that its answers are."""
        from sqlglot import exp

        parts = self._block(tree, replace(around, is_set=True), name)
        for part in parts:
            part.set("expressions", [e for e in part.expressions if not is_quiet(e)])
            part.set("distinct", exp.Distinct())
        names = [item.alias_or_name.lower() for item in parts[0].expressions]
        for column in names:
            if names.count(column) > 1:
                raise SqlRefusal(
                    f"two columns called {column} under DISTINCT in a subquery",
                    why="its columns are those of a stream, which have names of their own",
                    fix="name one of them otherwise, with AS",
                    line=line_of(tree),
                )
        return self._select_answers(parts, name, line_of(tree))

    def _select_answers(
        self, parts: "Sequence[exp.Query]", name: str, line: int | None
    ) -> "exp.Select":
        texts = tuple(part.sql("spark") for part in parts)
        if texts not in self.known:
            try:
                self.known[texts] = self.read_answers(parts, self.catalog, name)
            except SqlRefusal as error:
                error.line = error.line or line
                raise
            self.catalog = self.known[texts].catalog
        return select_answers(self.known[texts], line)


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
