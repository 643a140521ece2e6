"""The stream of rows that have met a version, and what follows for it."""

from collections.abc import Mapping
from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import ANSWERS, Catalog, KeyConstant, Meeting, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)

ROW, VERSION = "row", "version"
"""The aliases of a stream and of the stream of versions, in the join of all that came before."""


def plain_streams(catalog: Catalog) -> dict[str, Stream]:
    """The streams of a catalog with the columns of their data alone."""
    return {
        name: replace(
            s, columns=tuple(c for c in s.columns if c.bucket is None and c.expression is None)
        )
        for name, s in catalog.streams.items()
    }


def declare_meeting(
    base: Stream,
    relation: Stream,
    key: tuple[tuple[str | KeyConstant, str], ...],
    streams: Mapping[str, Stream],
    blocks: Mapping[str, Block],
    source: Source | None,
) -> Block:
    """The rows of a stream that meet a version, each with its columns: what is declared of the
    stream, and of the versions' columns, holds of them.

    Args:
        base: the stream.
        relation: the relation that changes, as of every time.
        key: of each column of its key, the column of the stream, or a constant.
        streams: all that there are.
        blocks: those of such rows that are there; rows that have met this version are not given
            another one.
        source: of the query.
    """
    assert relation.versions is not None
    versions = relation.versions
    by = ", ".join(of if isinstance(of, str) else repr(of.value) for of, _ in key)
    name = f"{base.name} with {relation.name} by {by}"
    if name in blocks:
        return blocks[name]
    held = blocks.get(base.name)
    if held is not None and isinstance(held.meeting, Meeting):
        known = held.meeting
        if known.versions == versions and known.key == key:
            return held
    taken = {base.timestamp, *(c.name for c in base.columns)}
    columns = tuple((c.name, _free(f"{relation.name}.{c.name}", taken)) for c in relation.columns)
    shown = dict(columns)
    references = tuple(
        replace(r, columns=tuple(shown[c] for c in r.columns)) for r in relation.references
    )
    met = [
        replace(c, name=shown[c.name], nullable=c.nullable or versions.optional)
        for c in relation.columns
    ]
    stream = replace(
        base,
        name=name,
        data=ANSWERS,
        columns=(*base.columns, *met),
        references=(*base.references, *references),
        written=None,
        lateness_us=0,
        idle_us=None,
    )
    meeting = Meeting(base.name, versions, key, columns)
    joined = _join(name, base, streams[versions.stream], meeting, source)
    return Block(stream, joined, meeting=meeting)


def _join(
    name: str, base: Stream, updates: Stream, meeting: Meeting, source: Source | None
) -> SpjUnion:
    """The join of rows with all versions that they may meet."""
    conditions: list[Condition] = []
    for of, column in meeting.key:
        right = Attribute(ROW, of) if isinstance(of, str) else Constant(of.value)
        conditions.append(Compare(Attribute(VERSION, column), Op.EQ, right))
    earlier = Attribute(VERSION, updates.timestamp)
    before = Op.LT if meeting.versions.earlier else Op.LE
    conditions.append(Compare(earlier, before, Attribute(ROW, base.timestamp)))
    if meeting.versions.delete is not None:
        deleted = Attribute(VERSION, meeting.versions.delete)
        conditions.append(Compare(deleted, Op.EQ, Constant(False)))
    outputs = [(c, LiteralOutput(Attribute(VERSION, c))) for _, c in meeting.key]
    occurrences = Occurrence(ROW, base.name), Occurrence(VERSION, updates.name)
    query = SpjQuery(occurrences, tuple(conditions), tuple(outputs))
    return SpjUnion(name, tuple(n for n, _ in outputs), (query,), False, source)


def _free(name: str, taken: set[str]) -> str:
    made, n = name, 2
    while made in taken:
        made, n = f"{name} {n}", n + 1
    taken.add(made)
    return made
