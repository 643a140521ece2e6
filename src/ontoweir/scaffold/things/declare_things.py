"""Declare between which numbers those lie that name things."""

from collections.abc import Iterator, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Column, IntType, Stream
from ontoweir.measuring.declared import Declared, SetDomain, declare_in
from ontoweir.scaffold.measure_guessed import Evidence
from ontoweir.scaffold.terms.describe_stream import find_own_id, names_thing

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredColumn, MeasuredStream

_MOST, _OFTEN = 300, 100
"""So many numbers, at most, are taken for all that there are, each of which is there so often."""


def declare_things(evidence: Evidence, named: Set[tuple[str, str]] = frozenset()) -> Evidence:
    """The same, with a domain for whole numbers of which all between the least and the greatest are
    there, each again and again, in no order of time: those of devices, lines or rooms. Others are
    left to the reader, who finds them in a comment.

    Args:
        evidence: of guessed tables.
        named: by table and column, what a mapping makes IRIs of things of, whatever it is called.
    """
    measured = dict(evidence.measured)
    seen: list[tuple[Declared, str]] = []
    for stream in evidence.catalog.streams.values():
        found = measured.get(stream.name)
        if found is not None and not stream.data.mqtt:  # of topics, little was heard
            seen += _find(stream, found, named)
    catalog = declare_in(evidence.catalog, [declared for declared, _ in seen])
    return replace(evidence, catalog=catalog, seen=(*evidence.seen, *seen))


def _find(
    stream: Stream, measured: "MeasuredStream", named: Set[tuple[str, str]]
) -> Iterator[tuple[Declared, str]]:
    referring = {c for r in stream.references for c in r.columns}
    own = find_own_id(stream)
    for column in stream.columns:
        values = measured.columns.get(column.name)
        things = names_thing(column.name) or (stream.name, column.name) in named
        if values is None or not things or column.name in referring or column.name == own:
            continue
        if _is_whole(column, values, measured.rows):
            low, high = values.minimum, values.maximum
            times = measured.rows // (values.distinct or 1)
            said = (
                f"all {values.distinct} numbers from {low} to {high}, each {times:,} times on "
                "average; guessed: there are no others, whose rows would be rejected"
            )
            yield SetDomain(stream.name, replace(column, minimum=low, maximum=high)), said


def _is_whole(column: Column, values: "MeasuredColumn", rows: int) -> bool:
    """Whether the numbers of a column, which has no domain yet, are all between two, and come again
    and again: greater ones do not begin when others have ended."""
    if not isinstance(column.type, IntType) or column.minimum is not None or values.nulls:
        return False
    if not isinstance(values.minimum, int) or not isinstance(values.maximum, int):
        return False
    count = values.distinct or 0
    if not 1 < count <= _MOST or values.maximum - values.minimum + 1 != count:
        return False
    back = 0 if values.order is None else values.order[0]
    return count * _OFTEN <= rows and back == count - 1
