"""Parses plain SQL over the catalog into a union of SPJ queries: `check --sql`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.mappings.sql.check_parts import check_parts
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.show_sql import writing
from ontoweir.rewriter.aggregates.nest_scalars import nest_scalars
from ontoweir.rewriter.aggregates.read_group_row import read_group_row
from ontoweir.rewriter.algebra.compile_in_steps import compile_in_steps
from ontoweir.rewriter.around.join_filters import join_filters
from ontoweir.rewriter.around.join_one import open_numbered
from ontoweir.rewriter.around.number_groups import number_groups
from ontoweir.rewriter.around.unite_changing import unite_changing
from ontoweir.rewriter.before.join_between import join_between
from ontoweir.rewriter.beside.read_beside import read_beside
from ontoweir.rewriter.blocks.make_absence import make_absence
from ontoweir.rewriter.blocks.make_answers import add_blocks, make_answers
from ontoweir.rewriter.buckets.refuse_ungrouped import refuse_ungrouped
from ontoweir.rewriter.buckets.slide_buckets import slide_buckets
from ontoweir.rewriter.computed.keep_beside import keep_beside
from ontoweir.rewriter.computed.keep_computed import keep_computed
from ontoweir.rewriter.delays.delay_rows import delay_rows
from ontoweir.rewriter.delays.hold_rows import hold_rows
from ontoweir.rewriter.delays.hold_set import hold_set
from ontoweir.rewriter.differences.since_first import begin_with
from ontoweir.rewriter.earlier.beside_subqueries import beside_subqueries
from ontoweir.rewriter.earlier.declare_preceding import list_preceding
from ontoweir.rewriter.earlier.window_subqueries import window_subqueries
from ontoweir.rewriter.grouped.group_times import group_times
from ontoweir.rewriter.grouped.merge_groups import merge_groups
from ontoweir.rewriter.grouped.narrow_groups import narrow_groups
from ontoweir.rewriter.grouped.number_days import number_days
from ontoweir.rewriter.grouped.number_modes import number_modes
from ontoweir.rewriter.groups.read_sql_aggregate import name_aggregates
from ontoweir.rewriter.joined.join_parts import join_parts
from ontoweir.rewriter.joined.number_nested import number_nested
from ontoweir.rewriter.joined.read_changing import read_changing
from ontoweir.rewriter.joins.absence_trees import AbsenceTrees, StillSeveral, StreamColumns
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.read_as_of import read_as_of
from ontoweir.rewriter.lasting.imply_windows import imply_windows
from ontoweir.rewriter.lasting.number_latest import number_latest
from ontoweir.rewriter.lasting.open_for import open_for
from ontoweir.rewriter.lasting.spell_latest import spell_latest
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Block, SpjQuery, SpjUnion
from ontoweir.rewriter.nulls.null_places import NOWHERE, NullPlaces
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.phrasings.read_statics import read_statics
from ontoweir.rewriter.phrasings.settle_phrasings import settle_phrasings
from ontoweir.rewriter.recent.latest_of_union import latest_of_union
from ontoweir.rewriter.registers.group_held import group_held
from ontoweir.rewriter.sql.read_sql_part import SqlPart, read_sql_part, unite_read
from ontoweir.rewriter.sql.spell_query import spell_query
from ontoweir.rewriter.subqueries.column_names import free_name
from ontoweir.rewriter.subqueries.merge_subqueries import merge_subqueries
from ontoweir.rewriter.subqueries.select_answers import Answers
from ontoweir.rewriter.subqueries.stack_rows import stack_rows
from ontoweir.rewriter.syntax.name_items import unique_names
from ontoweir.rewriter.syntax.place_errors import place_errors
from ontoweir.rewriter.ties.order_ties import order_ties
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.rewriter.unfold.date_statics import date_statics, is_mixed, refuse_bags
from ontoweir.rewriter.updates.declare_updates import declare_updates
from ontoweir.rewriter.updates.keep_groups import keep_groups
from ontoweir.rewriter.updates.limit_keys import limit_keys
from ontoweir.rewriter.versions.meet_tables import meet_tables
from ontoweir.rewriter.versions.meet_versions import meet_versions
from ontoweir.rewriter.views.make_sets import SetMaker
from ontoweir.rewriter.windows.name_lags import name_lags
from ontoweir.rewriter.windows.read_sql_grid import value_aggregated
from ontoweir.rewriter.windows.read_sql_times import counts_times

if TYPE_CHECKING:
    from sqlglot import exp


def parse_sql(text: str, catalog: Catalog, *, name: str, file: str) -> SpjUnion:
    """The union of SPJ queries that `text` is.

    Subqueries in FROM, what WITH names, and views are merged. OR, NOT and IN become disjuncts that
    exclude each other unless duplicates are removed. A selected column is taken as not NULL unless
    declared `nullable`, or computed. Where a grouped column may be NULL, the rows where it is are
    disjuncts of their own; an aggregated one may be NULL in the matches.

    Args:
        text, catalog, name, file: Spark SQL, its tables, and of the query, for messages.

    Raises:
        QueryError: not SQL, outside of what is read, unknown names, types that do not compare.
    """
    with writing(text):
        try:
            return compile_in_steps(partial(_parse, text, name, file, None), catalog)
        except QueryError as error:
            for tied, valued in ((False, False), (True, False), (False, True)):
                with suppress(QueryError):
                    read = partial(_parse, text, name, file, error, tied=tied, valued=valued)
                    return compile_in_steps(read, catalog)
            raise


def _parse(
    text: str,
    name: str,
    file: str,
    refused: QueryError | None,
    catalog: Catalog,
    *,
    tied: bool = False,
    valued: bool = False,
) -> SpjUnion:
    """`refused`: why, as it is written (None: it was not tried yet); it is read then in other words
    for the latest rows, windows and values, and with its groups, what these are of, and rows that
    are open for some time as streams of their own. `tied`: its windows are ordered by more than it
    says, so that no rows are equal. `valued`: buckets of time in aggregates are values of rows."""
    reader = _Reader(file)
    with place_errors(file, lambda: reader.statics):
        whole = spell_query(text, catalog)
        if valued and not value_aggregated(whole):
            assert refused is not None
            raise refused
        written, catalog, reader.statics = read_statics(whole, catalog)
        written = join_between(written, catalog)
        catalog = begin_with(written, catalog)
        ties: tuple[str, ...] = ()
        if tied:
            assert refused is not None
            tree, ties = order_ties(written, catalog)
            if tree == written:
                raise refused
            written = tree
        written = limit_keys(number_modes(written, catalog), catalog)
        written = group_times(number_days(written, catalog), catalog)
        written = narrow_groups(written, catalog)
        if refused is not None:
            latest = spell_latest(number_latest(written, catalog), catalog)
            spelled = join_filters(imply_windows(latest, catalog))
            spelled = limit_keys(nest_scalars(spelled, catalog, ever=True), catalog)
            kept = None if spelled == written else (spelled, catalog)
            kept = keep_computed(*(kept or (written, catalog)), reader.read_absence) or kept
            kept = keep_beside(*(kept or (written, catalog)), reader.read_null) or kept
            kept = keep_groups(*(kept or (written, catalog)), reader.read_groups) or kept
            kept = open_for(*(kept or (written, catalog)), reader.read_rows) or kept
            if kept is None and not (tied or valued):
                raise refused
            written, catalog = kept or (written, catalog)

        def join(one: "exp.Query", known: Catalog, own: _Reader) -> SpjUnion:
            whole = partial(_read_tree, catalog=known, name=name, reader=own)

            def read_joined(tree: "exp.Query") -> SpjUnion:
                return join_parts(tree, known, whole, read_part, file)

            return unite_changing(one, known, read_joined, read_part)

        blocks: list[Block] = []

        def read_part(one: "exp.Select", *, rows: bool) -> SpjUnion:
            own = _Reader(file, reader.statics, tuple(reader.blocks))
            known = _add_streams(catalog, blocks)
            if rows:
                free = NullPlaces(shown=frozenset(range(len(one.selects))))
                made = own.read_whole(settle_phrasings(one, known), known, name, nullable=free)
            else:
                inner = partial(join, known=known, own=own)
                made = open_numbered(number_groups(one, known, inner), known)
            blocks.extend(made.blocks)
            return made

        read = partial(join, known=catalog, own=reader)
        made = hold_set(number_groups(number_nested(written, catalog), catalog, read))
        return replace(made, ties=(*ties, *made.ties))


def _read_tree(written: "exp.Query", catalog: Catalog, name: str, reader: "_Reader") -> SpjUnion:
    def read_settled(
        one: "exp.Query", free: NullPlaces = NOWHERE, over: Catalog | None = None
    ) -> SpjUnion:
        return reader.read_whole(one, over or catalog, name, nullable=free, changing=True)

    def read_plain(one: "exp.Query", free: NullPlaces) -> SpjUnion:
        return read_settled(settle_phrasings(one, catalog), free)

    written = merge_groups(written.copy(), catalog)  # what is refused may be read otherwise
    written, held = read_beside(written, catalog, settle_phrasings, read_plain)
    if held is not None:
        return hold_rows(held, catalog)
    if (held := latest_of_union(written, catalog, read_plain)) is not None:
        return hold_rows(held, catalog)
    if (held := group_held(written, catalog, settle_phrasings, read_settled)) is not None:
        return held
    written = beside_subqueries(read_as_of(written, catalog), catalog)
    written = settle_phrasings(window_subqueries(written, catalog), catalog)

    def read(one: "exp.Select", free: NullPlaces, over: Catalog | None = None) -> SpjUnion:
        return reader.read((one,), over or catalog, name, nullable=free, changing=True)

    written, catalog, held = read_changing(written, catalog, read, read_settled)
    return reader.read_whole(written, catalog, name) if held is None else held


def _add_streams(catalog: Catalog, blocks: Sequence[Block]) -> Catalog:
    """The catalog with the streams of queries that others read, whose names are taken."""
    made = {block.stream.name: block.stream for block in blocks}
    return replace(catalog, streams={**catalog.streams, **made}) if made else catalog


def _let_be_null(catalog: Catalog) -> Catalog:
    """The catalog, where all columns may be NULL."""
    streams = {
        name: replace(s, columns=tuple(replace(c, nullable=True) for c in s.columns))
        for name, s in catalog.streams.items()
    }
    relations = {
        name: replace(r, columns=tuple(replace(c, nullable=True) for c in r.columns))
        for name, r in catalog.relations.items()
    }
    return replace(catalog, streams=streams, relations=relations)


class _Reader:
    """Reads the SQL of a file; `blocks`: the queries that it reads the answers of; `statics`: the
    relations that are made of static ones for it."""

    def __init__(
        self, file: str, statics: tuple[Relation, ...] = (), blocks: tuple[Block, ...] = ()
    ) -> None:
        self.file, self.statics = file, statics
        self.blocks = [*blocks]

    def read_answers(self, trees: "Sequence[exp.Query]", catalog: Catalog, name: str) -> Answers:
        """A query whose answers are read, as a stream of the catalog."""
        keyed = None if aggregates(trees[0]) else len(trees[0].selects)
        answers, block = make_answers(self.read(trees, catalog, name, keyed=keyed), name, catalog)
        self.blocks.append(block)
        return answers

    def read_absence(
        self, trees: AbsenceTrees, catalog: Catalog, name: str
    ) -> tuple[StreamColumns, Catalog]:
        """The rows beside which others are there, or are not, as a stream of the catalog."""

        def read(selects: "Sequence[exp.Select]", keyed: int) -> SpjUnion:
            return self.read(selects, catalog, name, keyed=keyed)

        made = make_absence(trees, read, name, catalog)
        self.blocks.append(made.block)
        return (made.block.stream.name, made.columns), made.catalog

    def read_null(
        self, trees: AbsenceTrees, catalog: Catalog, name: str
    ) -> tuple[StreamColumns, Catalog]:
        """The same, whatever is NULL of the rows, which is shown, declared so or not."""
        (made, columns), wide = self.read_absence(trees, _let_be_null(catalog), name)
        streams = {**catalog.streams, made: wide.streams[made]}
        return (made, columns), replace(catalog, streams=streams)

    def read_rows(
        self, tree: "exp.Select", catalog: Catalog, name: str
    ) -> "tuple[exp.Select, Catalog] | None":
        """A SELECT of a stream beside whose rows others are not, as one over a stream of those
        rows, whatever is NULL of them."""
        from sqlglot import exp

        stream, before = catalog.streams[name], len(self.blocks)
        null = replace(stream, columns=tuple(replace(c, nullable=True) for c in stream.columns))
        wide = _add_streams(catalog, self.blocks)
        wide = replace(wide, streams={**wide.streams, name: null})
        trees, wide = merge_subqueries(tree, wide, self.read_answers, self.read_absence)
        declared = {c.name: c.nullable for c in stream.columns}
        for n, block in enumerate(self.blocks[before:], before):
            columns = block.stream.columns
            columns = tuple(replace(c, nullable=declared.get(c.name, c.nullable)) for c in columns)
            self.blocks[n] = replace(block, stream=replace(block.stream, columns=columns))
        made, known = trees[0], _add_streams(catalog, self.blocks)
        return (made, known) if len(trees) == 1 and isinstance(made, exp.Select) else None

    def read_groups(
        self, tree: "exp.Select", catalog: Catalog, name: str
    ) -> tuple[Block, Catalog] | None:
        """The rows that the groups of a query have had, as a stream of the catalog."""
        taken = {n.lower() for n in (*catalog.streams, *catalog.relations)}
        free = free_name(name, taken)
        union = self.read_whole(settle_phrasings(tree, catalog), catalog, free)
        if (block := declare_updates(union, free, catalog)) is None:
            return None
        self.blocks.append(block)
        return block, _add_streams(catalog, [block])

    def _meet(
        self, tree: "exp.Query", catalog: Catalog
    ) -> "tuple[exp.Query, Catalog, tuple[Block, ...]]":
        """The query over rows that met their versions, if it computes with those of one at most."""

        def refuse(trees: AbsenceTrees, known: Catalog, name: str) -> tuple[StreamColumns, Catalog]:
            raise StillSeveral

        made = meet_tables(tree, catalog)
        try:
            stack_rows(made[0], made[1], refuse)
        except StillSeveral:
            return tree, catalog, ()
        return made

    def read_whole(
        self,
        tree: "exp.Query",
        catalog: Catalog,
        name: str,
        *,
        nullable: NullPlaces = NOWHERE,
        changing: bool = False,
    ) -> SpjUnion:
        """A query, with subqueries in FROM."""
        catalog, tree = _add_streams(catalog, self.blocks), name_aggregates(tree)
        trees, catalog = merge_subqueries(tree, catalog, self.read_answers, self.read_absence)
        return self.read(trees, catalog, name, nullable=nullable, changing=changing)

    def read(
        self,
        trees: "Sequence[exp.Query]",
        catalog: Catalog,
        name: str,
        *,
        keyed: int | None = None,
        nullable: NullPlaces = NOWHERE,
        changing: bool = False,
    ) -> SpjUnion:
        """A query without subqueries: one tree; or several, whose matches, or rows, are the query's
        together, of which so many columns (`keyed`), and those at some places (`nullable`), may be
        NULL; `changing`: of rows that hold until others end them."""
        file, parts, counted = self.file, list[SqlPart](), counts_times(trees, catalog)
        for tree in trees:
            tree, catalog, met = self._meet(name_lags(tree, catalog), catalog)
            if keyed is None and not met:
                tree, catalog = stack_rows(tree, catalog, self.read_absence, beside=len(trees) > 1)
            part = read_sql_part(tree, catalog, file, counted, keyed=keyed, nullable=nullable)
            parts.append(replace(part, meetings=(*met, *part.meetings)))
            catalog = parts[-1].catalog
        part = unite_read(parts, catalog, file)
        aggregation, union, disjuncts = part.aggregation, part.union, part.disjuncts
        variables = unique_names([name for name, _ in union.selects[0].projections])
        check_parts(union.selects)
        if aggregation is not None:  # none, where all matches are one group
            variables = (*aggregation.variables, *part.ends, *part.begins)
        named = [
            SpjQuery(
                d.occurrences,
                d.conditions,
                tuple(zip(variables, (o for _, o in d.outputs), strict=bool(variables))),
            )
            for d in disjuncts
        ]
        sets = SetMaker(catalog)
        if is_mixed(named, catalog):
            refuse_bags(Source(file, 1), distinct=union.distinct, sql=True)
            named = list(date_statics(named, sets, Source(file, 1)))
        made = SpjUnion(
            name=name,
            variables=variables,
            disjuncts=tuple(propagate_equalities(d, sets.catalog) for d in named),
            distinct=union.distinct,
            source=Source(file, line_of(trees[0]) or 1),
            aggregation=aggregation,
            buckets=part.buckets,
            derived=part.derived,
            ends=part.ends,
            begins=part.begins,
            views=tuple(sets.views),
            statics=self.statics,
            blocks=part.meetings,
            hidden=part.hidden,
        )
        made = list_preceding(meet_versions(made, sets.catalog), sets.catalog)
        made = add_blocks(made, self.blocks)
        wide = extend_catalog(sets.catalog, made) if made.blocks else sets.catalog
        if keyed is None:
            refuse_ungrouped(made, made.buckets)
        made = delay_rows(made, wide) if keyed is None and not changing else made
        wide = extend_catalog(sets.catalog, made) if made.blocks else wide
        made = slide_buckets(made, wide)
        check_aggregates(made, wide)
        return read_group_row(made, wide, part.trees, changing=changing)
