"""What is joined of rows that come and go by themselves, as changes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.rewriter.model.joined import Joined, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.changes.change_feed import PartFeed
from ontoweir.runtime.changes.joined_groups import shape_spans
from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY, UNTIL, has_end
from ontoweir.runtime.spans.join_spans import join_spans
from ontoweir.runtime.spans.spans import Spans


def split_rows(
    joined: Joined[SpjUnion], feeds: Sequence[PartFeed], answers: pa.Table
) -> list[pa.Table]:
    """The rows of each part among those of all, as its feed takes them."""
    made = []
    of = answers.column(joined.part).to_numpy() if answers.num_rows else np.zeros(0, np.int64)
    for number, one in enumerate(feeds):
        mine = answers.filter(pa.array(of == number))
        columns, leaves = {}, has_end(one.rows)
        for field in one.rows:
            if field.name == AT and one.part.since:
                names = [AT, *one.part.since]
                begins = [mine.column(n).cast(INSTANT).cast(pa.int64()) for n in names]
                column = pc.max_element_wise(*begins).cast(INSTANT)
            elif field.name == AT:
                column = mine.column(AT)
            elif field.name == UNTIL and leaves:
                ends = [mine.column(n).cast(INSTANT).cast(pa.int64()) for n in one.part.until]
                column = (pc.min_element_wise(*ends) if len(ends) > 1 else ends[0]).cast(INSTANT)
            elif field.name == MULTIPLICITY:
                column = mine.column(MULTIPLICITY)
            else:
                column = mine.column(f"{number} {field.name}")
            columns[field.name] = column
        table = pa.table(columns).cast(one.rows)
        if leaves:  # what would be shown when it has left a window never is
            table = table.filter(pc.less(table.column(AT), table.column(UNTIL)))
        made.append(table)
    return made


def number_columns(number: int, spans: Spans) -> Spans:
    """The rows of a part, with the names of its variables in the join."""
    names = [f"{number} {n}" for n in spans.rows.column_names]
    return Spans(spans.rows.rename_columns(names), spans.begins, spans.ends, spans.weights)


def leave_numbers(spans: Spans) -> Spans:
    """The rows of a part, as they are called in it."""
    names = [n.partition(" ")[2] for n in spans.rows.column_names]
    return Spans(spans.rows.rename_columns(names), spans.begins, spans.ends, spans.weights)


def join_all(joined: Joined[SpjUnion], parts: Sequence[Spans]) -> Spans:
    """The rows of all parts, joined, with the columns that are shown."""
    made = parts[0]
    for part, rows in zip(joined.parts[1:], parts[1:], strict=True):
        if part.kind is not JoinKind.BEGUN:
            made = join_spans(made, rows, part)
    shown = made.rows.select([v for _, v in joined.shown])
    rows = shown.rename_columns([name for name, _ in joined.shown])
    spans = Spans(rows, made.begins, made.ends, made.weights)
    return spans if joined.row is None else shape_spans(joined.row.shape, spans)


def find_begun(joined: Joined[SpjUnion], parts: Sequence[Spans]) -> int | None:
    """Since when what is not grouped has a row, whatever there is (µs; None: not yet)."""
    found = [p for p, of in zip(parts, joined.parts, strict=True) if of.kind is JoinKind.BEGUN]
    return min((int(p.begins.min()) for p in found if len(p.begins)), default=None)


def standing_spans(rows: pa.Table) -> Spans:
    """Rows that hold, with how often, as spans."""
    weights = rows.column(MULTIPLICITY).to_numpy()
    begins = np.full(rows.num_rows, LONG_AGO, dtype=np.int64)
    ends = np.full(rows.num_rows, np.iinfo(np.int64).max, dtype=np.int64)
    return Spans(rows.drop_columns([MULTIPLICITY]), begins, ends, weights)


def repeat_held(rows: pa.Table) -> pa.Table:
    """Rows, or changes, each as often as it holds, without saying so."""
    if MULTIPLICITY not in rows.column_names:
        return rows
    often = rows.column(MULTIPLICITY).to_numpy()
    index = np.repeat(np.arange(rows.num_rows), often)
    return rows.drop_columns([MULTIPLICITY]).take(pa.array(index))
