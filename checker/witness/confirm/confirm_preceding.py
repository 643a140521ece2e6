"""Confirm a witness against a query of rows with what the rows before them say.

A row's columns are made of the rows of its own key that came before it. So where no other optional
tuple has the key of suffix i, what the suffix brings says whether optional tuple i is there,
whichever of the others are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import evaluate_naively
from ontoweir.checker.witness.keyed.compute import UnknownAnswerError, complete_row
from ontoweir.checker.witness.keyed.meet_naively import meet_naively
from ontoweir.checker.witness.witness import Witness, WitnessRow, content_of, instance_of
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import has_user_calls
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.spj import SpjUnion

_FUNCTIONS = ("first", "known", "count", "sum", "avg", "min", "max")

_Row: TypeAlias = Mapping[str, Any]


def find_preceding(union: SpjUnion) -> Preceding | None:
    """How rows meet those before them, of a query that witnesses can be confirmed against here: it
    shows such rows, each by itself, perhaps with static data (None: it is another one)."""
    if len(union.blocks) != 1 or union.aggregation is not None or union.standing is not None:
        return None
    if union.ends or union.begins or union.statics or union.views:
        return None
    block = union.blocks[0]
    meeting = block.meeting
    if not isinstance(meeting, Preceding) or meeting.after or meeting.ties or not meeting.key:
        return None
    if any(c.order or c.function not in _FUNCTIONS or c.last < 0 for c in meeting.columns):
        return None
    # after their span, or bucket, of time rows say nothing
    if meeting.within or meeting.run or any(c.span_us is not None for c in meeting.columns):
        return None
    made = [e for _, e in union.derived]
    made += [c.argument for c in meeting.columns if c.argument is not None]
    made += [] if meeting.only is None else [meeting.only]
    if any(map(has_user_calls, made)):
        return None
    name = block.stream.name
    alone = (sum(o.table == name for o in q.occurrences) == 1 for q in union.disjuncts)
    return meeting if all(alone) else None


def confirm_preceding(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether what the suffixes bring proves that all subsets of the optional tuples must be told
    apart.

    Args:
        union: the query, of which there is a `find_preceding`.
        catalog: with its block as a stream, and the columns that are derived.
        witness: legal, with suffixes later than all else.

    Raises:
        TooLongError: there are too many matches to look at.
    """
    meeting = find_preceding(union)
    assert meeting is not None

    def read_key(row: WitnessRow) -> tuple[Any, ...] | None:
        content = content_of(catalog, row)
        return tuple(content.get(n) for n in meeting.key) if row.table == meeting.base else None

    keys = [
        {read_key(row) for row in (optional, *suffix)} - {None}
        for optional, suffix in zip(witness.optional, witness.suffixes, strict=True)
    ]
    if any(one & other for one, other in combinations(keys, 2)):
        return False
    for i, suffix in enumerate(witness.suffixes):
        mine = [witness.optional[i]]
        rest = [o for n, o in enumerate(witness.optional) if n != i]
        brought = []
        for optional in ([], rest, mine, [*mine, *rest]):
            rows = [*witness.fixed, *optional]
            before = _answer(union, meeting, catalog, rows)
            after = _answer(union, meeting, catalog, [*rows, *suffix])
            if before is None or after is None or before - after:
                return False
            brought.append(after - before)
        without, crowded, alone, whole = brought
        if without != crowded or alone != whole or without == alone:
            return False
    return True


def _answer(
    union: SpjUnion, meeting: Preceding, catalog: Catalog, rows: Sequence[WitnessRow]
) -> Counter[tuple[Any, ...]] | None:
    """All answers over some rows (None: it is not known what they are)."""
    name = union.blocks[0].stream.name
    instance: dict[str, Sequence[_Row]] = dict(instance_of(catalog, rows))

    def read(table: str) -> list[dict[str, Any]]:
        return [dict(row) for row in instance.get(table, ())]

    try:
        made = [
            complete_row(catalog.streams[name], row) for row in meet_naively(meeting, catalog, read)
        ]
    except UnknownAnswerError:
        return None
    return evaluate_naively(replace(union, blocks=()), {**instance, name: made})
