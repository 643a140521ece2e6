"""From joined matches to the rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import Frontier, SynopsisTable
from ontoweir.runtime.columnar.add_exact import add_exact, clamp, narrow
from ontoweir.runtime.columnar.columns import (
    frontier,
    is_past_frontier,
    stamp,
    table_columns,
    value,
)
from ontoweir.runtime.columnar.frame import (
    EVENT,
    WEIGHT,
    Array,
    Frame,
    Name,
    add_up,
    group_codes,
    last_of,
    sum_sizes,
    sums_of,
)
from ontoweir.runtime.distinct.aggregate import aggregate
from ontoweir.runtime.kernel.apply_join_predicates import in_frontier
from ontoweir.runtime.kernel.bucket_values import bucket_values
from ontoweir.runtime.kernel.plan_view import PlanView, turn

_SAMPLE = 4_096
_WHAT = "a number that comparisons are kept by"


def project_matches(
    view: PlanView, frame: Frame, table: SynopsisTable, by: Sequence[Name]
) -> Frame:
    """Reduce to a table's key and compute its frontier values."""
    projected = _project(view, frame, table)
    return projected if table.frontier else aggregate(projected, by, bag=view.bag)


@dataclass(frozen=True, slots=True)
class LastResult:
    """Of a key only the last result is asked for.

    `most`: results of a key may be one, with the sums of all, at the last marker that changed it,
    as long as what is added is not greater than this; `timed`: whether it matters at which of its
    markers the least frontier value of a key came; `told_once`: a result that is no better than
    one of an earlier chunk is not told again, for which the best of every key is kept.
    """

    most: float
    timed: bool = True
    told_once: bool = True

    def forgets(self, results: SynopsisTable) -> bool:
        """Whether a plan's table of results need not be kept for the next chunk."""
        others = results.samples or results.kept or results.matched
        return not self.told_once and len(results.frontier) == 1 and not others


class MergedMarkers:
    """Merges the matches of a key at several markers into one row at the last of them, of a table
    of bags without frontier values, as long as all that is added is not much: no sum on the way
    may be greater.

    Args:
        most: what the absolute weights and sums may add up to, each by itself.
    """

    def __init__(self, most: float) -> None:
        self._left = most

    def project(self, view: PlanView, frame: Frame, table: SynopsisTable) -> Frame | None:
        """As project_matches, with markers merged (None: these are too many); rows with a double
        stay as they are where these rarely repeat, as what adds them adds them one by one."""
        projected = _project(view, frame, table)
        by = table_columns(table)
        if _rarely_repeats([projected[n] for n in by], frame.rows):
            return projected
        names = (WEIGHT, *sums_of(projected))
        numbers = {name: projected[name] for name in names}
        size = max(sum_sizes(column) for column in numbers.values())
        if size > self._left:
            return None
        self._left -= size
        codes, count = group_codes([projected[n] for n in by], frame.rows)
        last = last_of(codes, count)
        columns = {name: projected[name][last] for name in by}
        events = projected[EVENT]
        columns[EVENT] = events[last]
        if bool((events[1:] < events[:-1]).any()):
            np.maximum.at(columns[EVENT], codes, events)
        added = {name: add_up(column, codes, count) for name, column in numbers.items()}
        return Frame(count, {**columns, **added})


def _rarely_repeats(columns: Sequence[Array], rows: int) -> bool:
    """Whether a sample says that doubles in some columns tell most rows apart."""
    if not any(column.dtype == np.float64 for column in columns):
        return False
    part = min(rows, _SAMPLE)
    return group_codes([column[:part] for column in columns], part)[1] > 0.9 * part


def _project(view: PlanView, frame: Frame, table: SynopsisTable) -> Frame:
    columns: dict[Name, Array] = {}
    for key in table.keys:
        column = frame[value(key.value)]
        if key.breaks:
            text = view.form.classes[key.value].kind is Kind.STRING
            column = bucket_values(column, key.breaks, text=text)
        if key.low is not None:
            column = np.maximum(column, clamp(key.low))
        if key.high is not None:
            column = np.minimum(column, clamp(key.high))
        columns[value(key.value)] = column
    for kept in table.kept:
        columns[stamp(kept.member)] = frame[stamp(kept.member)]
    for index, wanted in enumerate(table.frontier):
        columns[frontier(index)] = _greatest(view, frame, wanted)
    for name in (EVENT, WEIGHT, *sums_of(frame)):
        columns[name] = frame[name]
    return Frame(frame.rows, columns)


def _greatest(view: PlanView, frame: Frame, wanted: Frontier) -> Array:
    """A frontier value, as it is kept, from columns and from frontier values of joined tables.

    Raises:
        RunError: it does not fit 64 bits.
    """
    best: Array | None = None
    terms, bias = wanted.terms, view.bias(wanted)
    missing = set()
    for term in terms:
        name = value(term.value)
        if name in frame.columns and not in_frontier(view, frame, term.value):
            turned, beside = turn(frame[name], term.sign)
            side = narrow(add_exact(turned, term.shift + beside - bias), _WHAT)
            best = side if best is None else np.maximum(best, side)
        else:
            missing.add((term.value, term.sign))
    shifts = {(t.value, t.sign): t.shift for t in terms}
    for name in frame.columns:
        if not is_past_frontier(name) or not missing:
            continue
        kept = view.tables[name[1]].frontier[name[2]]
        part = kept.terms
        if {(t.value, t.sign) for t in part} <= set(shifts):
            deltas = {shifts[(t.value, t.sign)] - t.shift for t in part}
            if len(deltas) == 1:
                more = deltas.pop() + view.bias(kept) - bias
                side = narrow(add_exact(frame[name], more), _WHAT)
                best = side if best is None else np.maximum(best, side)
                missing -= {(t.value, t.sign) for t in part}
    if best is None or missing:
        raise AssertionError("a frontier value cannot be computed")
    return best
