"""Where much is held, only some of it is looked at: with the same changes, chunk by chunk."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.runtime.changes.change_feed import ChangeFeed, advance_changes
from ontoweir.runtime.changes.few_changes import advance_few_changes
from ontoweir.runtime.changes.sliding_groups import OP
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL
from tests.oracle.run_kernel import few_touched

VARIABLES = ("k", "v")
FIELDS = [pa.field("k", pa.string()), pa.field("v", pa.int64())]
SHOWN = [*FIELDS, pa.field(OP, pa.string()), pa.field(AT, INSTANT)]
COUNTED = pa.field(MULTIPLICITY, pa.int64())


def _feed(*, distinct: bool = True, ends: bool = False, **more: Any) -> ChangeFeed:
    schema = pa.schema(SHOWN if distinct else [*SHOWN, COUNTED])
    return ChangeFeed(VARIABLES, distinct, ends, more.pop("group", None), schema, **more)


FEEDS = {
    "windows, once": _feed(ends=True),
    "windows, counted": _feed(distinct=False, ends=True),
    "rows of groups": _feed(group=("k",)),
    "the row without groups": _feed(group=()),
    "the latest": _feed(latest=("k",)),
    "the latest, counted": _feed(distinct=False, latest=("k",)),
}
for numbering in Numbering:
    chosen = FirstRows(numbering, 2, (("v", True, False),))
    FEEDS[f"the first of a window, {numbering.name}"] = _feed(
        distinct=False, ends=True, first=Standing(("k",), first=chosen)
    )


def _answers(feed: ChangeFeed, random: Random, now: int) -> pa.Table:
    count = random.randrange(4) if feed.group != () else random.randrange(2)
    keys = random.sample(["a", "b", "c", "d", None], k=count)
    rows = [
        {
            "k": k,
            "v": random.randrange(2),
            AT: now,
            UNTIL: now + random.randrange(1, 5),
            MULTIPLICITY: 2,
        }
        for k in keys
    ]
    fields = [*FIELDS, pa.field(AT, INSTANT)]
    fields += [pa.field(UNTIL, INSTANT)] if feed.ends else []
    return pa.Table.from_pylist(rows, pa.schema(fields if feed.distinct else [*fields, COUNTED]))


def _rows(table: pa.Table | None) -> list[str]:
    if table is None:
        return []
    for place, kept in enumerate(table.schema):  # long ago is no time that Python has
        if kept.type == INSTANT:
            table = table.set_column(place, kept.name, table.column(place).cast(pa.int64()))
    return sorted(map(str, table.to_pylist()))


@pytest.mark.parametrize("feed", FEEDS.values(), ids=FEEDS)
@pytest.mark.parametrize("seed", range(5))
def test_few_are_as_all(feed: ChangeFeed, seed: int) -> None:
    random = Random(seed)
    held: pa.Table | None = None
    few: pa.Table | KeptTable | None = None
    looked_up = 0
    for now in range(40):
        answers = _answers(feed, random, now)
        expected, held = advance_changes(feed, held, answers, now)
        with few_touched():
            made, few = advance_few_changes(feed, few, answers, now)
        looked_up += isinstance(few, KeptTable)
        assert made.to_pylist() == expected.to_pylist()
        assert _rows(None if few is None else whole_table(few)) == _rows(held)
    assert looked_up
