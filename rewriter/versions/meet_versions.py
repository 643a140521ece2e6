"""Puts streams of rows that have met the version of their time in the place of rows and relations
that change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    KeyConstant,
    Meeting,
    Stream,
    VersionsOf,
)
from ontoweir.mappings.model.expression import Expression, Field, fields_of, map_fields
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.versions.declare_meeting import declare_meeting, plain_streams


def meet_versions(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query over streams of rows with their versions (change.md section 6): a relation that
    changes, which is read at the time of a row and joined with it by all of its key, has one row at
    most there, which becomes columns of that row.

    Args:
        union: a query, which may read relations that change as if they were streams with a row for
            each key at every time.
        catalog: the tables, with the streams of answers that the query reads.

    Raises:
        QueryError: such a relation is read at another time, or not by its key.
    """
    read = {o.table for q in union.disjuncts for o in q.occurrences}
    viewed = {name for view in union.views for name in view.tables}
    for name in sorted(viewed):
        if (stream := catalog.streams.get(name)) is not None and stream.versions is not None:
            raise QueryError(
                f"{name}, which changes, is matched together with other tables",
                why="its triples are made by several maps, or are not told apart by its key, and "
                "it is read at the time of one row",
                fix=f"map {name} by its key, in one triples map for each predicate",
                source=union.source,
            )
    if not any(s.versions is not None for n in read if (s := catalog.streams.get(n)) is not None):
        return union
    meeter = _Meeter(union, catalog)
    disjuncts = tuple(made for q in union.disjuncts if (made := meeter.meet(q)) is not None)
    return replace(
        union,
        disjuncts=disjuncts,
        buckets=tuple(meeter.buckets),
        derived=tuple(meeter.derived),
        blocks=(*union.blocks, *meeter.blocks.values()),
    )


@dataclass(slots=True)
class _Meeter:
    """`streams`: of the catalog, and those made here; `blocks`: these, by name; `buckets` and
    `derived`: as a SpjUnion has them, of both."""

    union: SpjUnion
    catalog: Catalog
    streams: dict[str, Stream] = field(init=False)
    blocks: dict[str, Block] = field(default_factory=dict)
    buckets: dict[tuple[str, Column], None] = field(init=False)
    derived: dict[tuple[str, Expression], None] = field(init=False)

    def __post_init__(self) -> None:
        self.streams = plain_streams(self.catalog)
        gone = {n for n, s in self.streams.items() if s.versions is not None}
        self.buckets = {b: None for b in self.union.buckets if b[0] not in gone}
        self.derived = {d: None for d in self.union.derived if d[0] not in gone}

    def meet(self, query: SpjQuery) -> SpjQuery | None:
        """A disjunct without relations that change (None: it has no answers)."""
        made: SpjQuery | None = query
        for occurrence in query.occurrences:
            stream = self.streams.get(occurrence.table)
            if made is not None and stream is not None and stream.versions is not None:
                made = self._meet(made, occurrence, stream, stream.versions)
        return made

    def _meet(
        self, query: SpjQuery, read: Occurrence, relation: Stream, versions: VersionsOf
    ) -> SpjQuery | None:
        host, key = self._find_host(query, read, relation, versions)
        if versions.optional:  # the conditions by which it is found hold of no row without one
            raise QueryError(
                f"{relation.name}, read by a condition that is not of one row alone",
                why="which row it is joined with is not known before",
                fix="write ON a.column = b.column, with columns of one type of the row whose time "
                "is compared",
                source=_place(query, read.alias, self.union),
            )
        base = self.streams[host.table]
        made = declare_meeting(base, relation, key, self.streams, self.blocks, self.union.source)
        block, self.streams[made.stream.name] = made, made.stream
        self.blocks[made.stream.name] = made
        stream = block.stream
        assert isinstance(block.meeting, Meeting)
        names = {AS_OF: stream.timestamp, **dict(block.meeting.columns)}
        names |= self._copy_columns(base, relation, stream, names)

        time = Attribute(host.alias, stream.timestamp)

        def change(attribute: Attribute) -> Attribute:
            if attribute.alias != read.alias:
                return attribute
            name = names.get(attribute.column, attribute.column)
            return Attribute(host.alias, name)

        conditions: list[Condition] = []
        for condition in query.conditions:
            changed = map_condition(condition, change)
            if isinstance(changed, Compare) and changed.left == changed.right == time:
                if not _holds(changed):
                    return None
                continue
            conditions.append(changed)
        return replace(
            query,
            occurrences=tuple(
                replace(o, table=stream.name) if o == host else o
                for o in query.occurrences
                if o != read
            ),
            conditions=tuple(dict.fromkeys(conditions)),
            outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
            provenance=tuple(p for p in query.provenance if p[0] != read.alias),
            closing=None if query.closing is None else change(query.closing),
        )

    def _find_host(
        self, query: SpjQuery, read: Occurrence, relation: Stream, versions: VersionsOf
    ) -> tuple[Occurrence, tuple[tuple[str | KeyConstant, str], ...]]:
        """The row at whose time a relation is read, and the columns of it that its key equals."""
        classes = EqualityClasses(query.occurrences, query.conditions)
        time = Attribute(read.alias, AS_OF)
        hosts = [
            o
            for o in query.occurrences
            if (s := self.streams.get(o.table)) is not None
            and s.versions is None
            and classes.same(Attribute(o.alias, s.timestamp), time)
        ]
        place = _place(query, read.alias, self.union)
        if not hosts:
            raise QueryError(
                f"{relation.name}, which changes, is read at no row's time",
                why="a row meets the version of its own time",
                fix=f"write {relation.name} FOR SYSTEM_TIME AS OF s.ts in SQL, with the timestamp "
                "of a stream in FROM; in SPARQL its pattern beside that of a stream, in one "
                "GRAPH ?t { … }",
                source=place,
            )
        views = {view.name: view for view in self.union.views}
        missing: dict[str, None] = {}
        for host in (h for h in hosts if h.table not in views):
            found = [(_equal(host, c, read, relation, classes, self), c) for c in versions.key]
            key = tuple((of, c) for of, c in found if of is not None)
            if len(key) == len(found):
                return host, key
            missing |= dict.fromkeys(c for of, c in found if of is None)
        for view in (views[h.table] for h in hosts if h.table in views):
            raise QueryError(
                f"{relation.name}, which changes, is read at the time of triples, not of rows",
                why=f"what meets a version is a row, and {view.why or 'these are of several maps'}",
                fix="declare such a key of the stream; or read the relation in SQL, beside the row",
                source=place,
            )
        rows = " and ".join(dict.fromkeys(h.table for h in hosts))
        raise QueryError(
            f"{relation.name}, which changes, is read at the time of {rows}, and its "
            f"{', '.join(missing)} equals no column of that",
            why="the row that is met is found by its key",
            fix=f"join {relation.name} with a row of that time on {', '.join(versions.key)}, by "
            "columns of one type; what static relations say of the row is put beside it before, in "
            "a SELECT DISTINCT: in SPARQL { SELECT DISTINCT * { GRAPH ?t { … } … } } GRAPH ?t "
            "{ … }, where the latter has the pattern of what changes, in SQL FROM (SELECT DISTINCT "
            f"s.ts, …) AS x JOIN {relation.name} FOR SYSTEM_TIME AS OF x.ts",
            source=place,
        )

    def _copy_columns(
        self, base: Stream, relation: Stream, stream: Stream, names: Mapping[str, str]
    ) -> dict[str, str]:
        """Give the stream the buckets and derived columns of both; the names of the relation's that
        change."""
        tables = (base.name, relation.name)
        for table, column in (*self.union.buckets, *self.buckets):
            if table in tables:
                self.buckets[stream.name, column] = None
        changed = {}
        for table, expression in (*self.union.derived, *self.derived):
            made = expression
            if table == relation.name:
                fields: dict[str, Expression] = {
                    n: Field(names[n], f.type) for n, f in fields_of(expression).items()
                }
                made = map_fields(expression, fields)
                changed[write_expression(expression)] = write_expression(made)
            if table in tables:
                self.derived[stream.name, made] = None
        return changed


def _equal(
    host: Occurrence,
    column: str,
    read: Occurrence,
    relation: Stream,
    classes: EqualityClasses,
    work: _Meeter,
) -> str | KeyConstant | None:
    """What equals a column of a relation's key: a column of a row, or a constant."""
    wanted = Attribute(read.alias, column)
    declared = relation.column(column)
    assert declared is not None
    for constant in sorted(classes.constants.get(classes.find(wanted), ()), key=repr):
        return KeyConstant(constant.value)
    for own in work.streams[host.table].columns:
        if own.type == declared.type and classes.same(Attribute(host.alias, own.name), wanted):
            return own.name
    return None


def _holds(compare: Compare) -> bool:
    """Whether a comparison of a time with itself, and so many steps, holds."""
    offset = compare.offset
    match compare.op:
        case Op.EQ:
            return offset == 0
        case Op.NE:
            return offset != 0
        case Op.LT:
            return offset > 0
        case Op.LE:
            return offset >= 0
        case Op.GT:
            return offset < 0
        case Op.GE:
            return offset <= 0


def _place(query: SpjQuery, alias: str, union: SpjUnion) -> Source | None:
    for condition in query.conditions:
        if condition.source is not None and any(
            a.alias == alias for a in condition_attributes(condition)
        ):
            return condition.source
    return union.source
