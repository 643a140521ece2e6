"""Puts streams of late rows in the place of rows that begin to be shown some time after their own,
and then are shown for ever."""

from dataclasses import dataclass, field, replace
from typing import assert_never

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Column, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.delays.declare_late import declare_late
from ontoweir.rewriter.delays.late_rows import LateRows, find_late_rows
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    Occurrence,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


def delay_rows(union: SpjUnion, catalog: Catalog, *, always: bool = False) -> SpjUnion:
    """The query, in which delays are only of rows with windows, or of answers that say by
    themselves from when on they hold: of one row, each counted.

    Rows with a delay and without a window are, where that is not so, those of a stream at whose
    timestamps they begin to be shown (change.md section 2). They wait for it, and nothing else
    about them differs: what is compared with their time is compared with the later one, less the
    delay.

    Args:
        union: a query.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).
        always: also of answers that say by themselves from when on they hold.

    Raises:
        QueryError: the times of rows with a delay on a grid are compared with those of others; or
            rows with a delay are of sessions.
    """
    if not union.begins:
        return union
    if union.aggregation is not None and union.aggregation.session_us is not None:
        raise QueryError(
            "sessions of rows with a delay, ts <= NOW() - …",
            why="rows without it, of the same session, would be there before them",
            fix="leave the delay out: a session is told a gap after its last row",
            source=union.source,
        )
    late = [_list_late(query, union) for query in union.disjuncts]
    told = union.aggregation is None and not (union.distinct and not union.ends)
    if (
        told
        and not always
        and not any(
            _has_other_times(q, catalog, of) for q, of in zip(union.disjuncts, late, strict=True)
        )
    ):
        return union
    if not any(late):
        return union
    work = _Delayer(union, catalog)
    made = [work.delay(q, of) for q, of in zip(union.disjuncts, late, strict=True)]
    gone = [
        name
        for name in union.begins
        if all(
            {a.alias for a in output_attributes(dict(q.outputs)[name])} <= set(of)
            for q, of in zip(union.disjuncts, late, strict=True)
        )
    ]
    return replace(
        union,
        variables=tuple(n for n in union.variables if n not in gone),
        disjuncts=tuple(
            replace(q, outputs=tuple(o for o in q.outputs if o[0] not in gone)) for q in made
        ),
        begins=tuple(n for n in union.begins if n not in gone),
        buckets=tuple(work.buckets),
        blocks=(*union.blocks, *work.blocks),
    )


def _list_late(query: SpjQuery, union: SpjUnion) -> tuple[str, ...]:
    """The aliases whose rows have delays, and no windows."""
    outputs = dict(query.outputs)
    ended = {a.alias for n in union.ends for a in output_attributes(outputs[n])}
    begun = dict.fromkeys(a.alias for n in union.begins for a in output_attributes(outputs[n]))
    return tuple(alias for alias in begun if alias not in ended)


def _has_other_times(query: SpjQuery, catalog: Catalog, late: tuple[str, ...]) -> bool:
    """Whether some streams' rows may have other times than these."""
    times = [
        Attribute(o.alias, catalog.streams[o.table].timestamp)
        for o in query.occurrences
        if o.table in catalog.streams
    ]
    classes = EqualityClasses(query.occurrences, query.conditions)
    return any(not classes.same(a, b) for a in times for b in times if a.alias in late)


@dataclass(slots=True)
class _Delayer:
    """`blocks`: the streams of late rows that were made; `buckets`: as a SpjUnion has them."""

    union: SpjUnion
    catalog: Catalog
    blocks: list[Block] = field(default_factory=list)
    buckets: dict[tuple[str, Column], None] = field(init=False)

    def __post_init__(self) -> None:
        self.buckets = dict.fromkeys(self.union.buckets)

    def delay(self, query: SpjQuery, late: tuple[str, ...]) -> SpjQuery:
        """A disjunct over the streams of late rows."""
        begins = self.union.begins
        for alias in late:
            rows = find_late_rows(query, alias, begins, self.catalog)
            query = self._put(query, rows, self._declare(rows))
        return query

    def _declare(self, rows: LateRows) -> Stream:
        """The stream of rows; of the same rows there is one."""
        names = {*self.catalog.streams, *self.catalog.relations}
        for block in self.blocks:
            alone = declare_late(rows, self.union, self.catalog, names)
            if replace(alone.union, name="") == replace(block.union, name=""):
                return block.stream
            names.add(block.stream.name)
        made = declare_late(rows, self.union, self.catalog, names)
        self.blocks.append(made)
        return made.stream

    def _put(self, query: SpjQuery, rows: LateRows, stream: Stream) -> SpjQuery:
        """The disjunct with the stream in the place of rows."""
        base = self.catalog.streams[rows.table]
        delay = rows.delay_us(base.step_us)
        alias, time = rows.alias, Attribute(rows.alias, base.timestamp)
        names = dict(rows.columns)
        moved = {} if delay is None else {c.name: self._move(stream, c, delay) for c in rows.times}
        steps = None if delay is None else delay // base.step_us

        def put(attribute: Attribute) -> Attribute:
            if attribute.alias != alias or attribute == time:
                return attribute
            known = moved.get(attribute.column) or names[attribute.column]
            return Attribute(alias, known)

        conditions = []
        for condition in query.conditions:
            alone = {a.alias for a in condition_attributes(condition)} == {alias}
            if alone and time in condition_attributes(condition):
                continue  # it is the stream's
            conditions.append(map_condition(_shift(condition, time, steps), put))
        begun = {n for n in self.union.begins if _alias_of(query, n) == alias}
        outputs = [
            (n, LiteralOutput(Attribute(alias, self._move(stream, None, 0))))
            if n in begun
            else (n, map_output(o, put))
            for n, o in query.outputs
        ]
        occurrences = tuple(
            Occurrence(alias, stream.name) if o.alias == alias else o for o in query.occurrences
        )
        return replace(
            query,
            occurrences=occurrences,
            conditions=tuple(conditions),
            outputs=tuple(outputs),
        )

    def _move(self, stream: Stream, column: Column | None, delay: int) -> str:
        """The column of late rows that follows from their time as another one (None: the time
        itself) did from the time before; its name."""
        bucket = TimeBucket(Moments()) if column is None else column.bucket
        assert bucket is not None
        made = make_column(replace(bucket, behind_us=bucket.behind_us + delay))
        self.buckets[stream.name, made] = None
        return made.name


def _alias_of(query: SpjQuery, name: str) -> str:
    (attribute,) = output_attributes(dict(query.outputs)[name])
    return attribute.alias


def _shift(condition: Condition, time: Attribute, steps: int | None) -> Condition:
    """A condition of the time before as one of the later time, which is so many steps after it."""
    if not isinstance(condition, Compare) or time not in (condition.left, condition.right):
        return condition
    if steps is None:
        raise QueryError(
            f"{time} has a delay on a grid and no window, and is compared with another time",
            why="such a row is shown some time after its own, which is not always equally long",
            fix="write the delay without a grid, or a window of these rows too",
            source=condition.source,
        )
    match condition.right:
        case Constant():
            return condition
        case Attribute():
            right = condition.right == time
            moved = condition.offset + (-steps if right else steps)
            return replace(condition, offset=moved)
        case _ as unreachable:
            assert_never(unreachable)
