"""The kernel: advances the synopses of one plan over many markers at once (theory §8).

For every table Z of the plan, E_Z is the frame of partial matches completed in this chunk, by the
marker of their last tuple. A settled partner is a strict as-of look-up in a running sum of E_X by
key, started from the state carried in; a partner inside a window is the difference of two running
sums, or, where its own timestamp or a frontier is still needed, its rows in the window.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ontoweir.checker.model.plan import SynopsisPlan, SynopsisTable
from ontoweir.rewriter.model.spj import FoldFunction
from ontoweir.runtime.columnar.add_exact import add_exact
from ontoweir.runtime.columnar.columns import (
    frontier,
    is_value,
    stamp,
    table_columns,
    total,
    value,
)
from ontoweir.runtime.columnar.frame import (
    EVENT,
    LONG_AGO,
    UNTIL,
    WEIGHT,
    Array,
    Frame,
    Name,
    concat,
    expand,
    group_codes,
    join_weights,
    multiply,
    pack,
    pair_up,
)
from ontoweir.runtime.columnar.runs import blocks, order_rows
from ontoweir.runtime.distinct.aggregate import aggregate
from ontoweir.runtime.kept.kept_rows import KeptRows, are_few
from ontoweir.runtime.kept.kernel_state import KernelState as KernelState
from ontoweir.runtime.kernel.apply_join_predicates import apply_join_predicates
from ontoweir.runtime.kernel.asof_join import join_single_matches, look_up_best, look_up_sums
from ontoweir.runtime.kernel.compact_table import compact_kept, compact_table, merging_columns
from ontoweir.runtime.kernel.keep_apart import keep_apart
from ontoweir.runtime.kernel.pareto_front import least_rows, pareto_front
from ontoweir.runtime.kernel.plan_view import Members, PlanView, find_window
from ontoweir.runtime.kernel.project_matches import LastResult, MergedMarkers, project_matches
from ontoweir.runtime.kernel.sole_matches import (
    find_matched,
    find_places,
    have_met,
    list_values,
)
from ontoweir.runtime.kernel.thin_rows import thin_rows

_MAX_PAIRS = 1 << 21
"""Rows of new matches that wait to be condensed."""
_FEW = 4
"""Where what is kept is one row for so many new ones, the best of these are found by themselves."""


class ColdTables(Protocol):
    """The rows of a state's tables that are not in memory: found by columns, with some others."""

    def look_up(self, members: Members, names: Sequence[Name], wanted: Frame) -> Frame | None:
        """The rows of a table that are equal in some columns to one of those wanted (None: there
        are none)."""


class _Chunk:
    """One chunk being processed: E_Z by members, and the state carried in."""

    def __init__(
        self,
        plan: SynopsisPlan,
        tables: Sequence[SynopsisTable],
        state: KernelState,
        batches: Sequence[Frame],
        last: LastResult | None = None,
        cold: ColdTables | None = None,
    ) -> None:
        self.plan, self.form, self.state, self.tables = plan, plan.form, state, tables
        self.cold = cold
        self.bag = not plan.form.distinct
        self.batches, self.last = batches, last
        self.merged = None if last is None else MergedMarkers(last.most)
        self.new: dict[Members, Frame] = {}
        self.best: dict[Members, Frame] = {}
        self.view = PlanView(plan.form, {t.members: t for t in plan.tables})

    # -- joining -----------------------------------------------------------------------------

    def grow(self, table: SynopsisTable) -> Frame:
        """E_Z: the matches of a table that this chunk's tuples complete."""
        columns = table_columns(table)
        by = [EVENT, *columns] if table is self.plan.tables[-1] else [*columns, EVENT]
        merges = table is self.plan.tables[-1] and self.bag and not table.stored
        merged = self.merged if merges and not table.frontier and not table.kept else None
        parts: list[Frame] = []
        waiting, limit = 0, _MAX_PAIRS
        for step in table.steps:
            whole = self._together(step.now)
            for frame in self._complete(whole, step.now, step.past, step.now, table):
                made = None if merged is None else merged.project(self.view, frame, table)
                parts.append(made or project_matches(self.view, frame, table, by))
                waiting += parts[-1].rows
                if waiting > limit:
                    parts = [self._condense(table, by, parts)]
                    waiting = parts[0].rows
                    limit = max(limit, 2 * waiting)
        matches = concat(parts) if parts else self._empty(table)
        if not table.frontier and len(parts) > 1:  # each of them is aggregated
            matches = aggregate(matches, by, bag=self.bag)
        matches = self._without_matched(table, matches)
        return matches if self.bag or not parts else self._novel(table, matches)

    def _without_matched(self, table: SynopsisTable, frame: Frame) -> Frame:
        """Without new rows whose one tuple came before them; not where that may be dropped itself,
        and would be there or not by where chunks end."""
        for match in table.matched:
            past = self.view.tables.get(frozenset({match.child}))
            if past is None or past.matched or not frame.rows:
                continue
            limits = [k.expire_after for k in past.kept if k.expire_after is not None]
            came = self._with_old(past, list_values(match), frame, self._came(past, match.child))
            met = have_met(match, frame, came, min(limits, default=None))
            frame = frame.take(~met | (frame[EVENT] != frame[stamp(match.parent)]))
        return frame

    def _came(self, table: SynopsisTable, member: int) -> Frame:
        """A member's tuples of the chunk, as its table has them."""
        batch = self.batches[member] if self.batches[member].rows else self._empty(table)
        return batch.select([*table_columns(table), EVENT, WEIGHT])

    def _complete(
        self,
        frame: Frame,
        present: Members,
        pasts: Sequence[Members],
        now: Members,
        table: SynopsisTable,
    ) -> Iterator[Frame]:
        """The matches that rows at their markers complete with tables of the past, in blocks."""
        if frame.rows == 0:
            return
        if not pasts:
            yield frame
            return
        for joined in self._join_past(frame, pasts[0], now, table):
            kept = apply_join_predicates(self.view, joined, present, pasts[0])
            yield from self._complete(kept, present | pasts[0], pasts[1:], now, table)

    def _condense(self, table: SynopsisTable, by: Sequence[Name], parts: Sequence[Frame]) -> Frame:
        """Several parts of a table's matches as one, which has fewer rows where they repeat."""
        whole = concat(parts)
        if not table.frontier:
            return aggregate(whole, by, bag=self.bag)
        best, _ = pareto_front(whole, table_columns(table), len(table.frontier))
        return best.select(list(whole.columns))

    def _empty(self, table: SynopsisTable) -> Frame:
        names = [*table_columns(table), EVENT, WEIGHT]
        names += [total(place) for place in table.sums]
        columns: dict[Name, Array] = {name: np.zeros(0, dtype=self._dtype(name)) for name in names}
        for index, best in enumerate(table.frontier):
            dense = any(self.form.classes[t.value].grain == 0 for t in best.terms)
            columns[frontier(index)] = np.zeros(0, dtype=np.float64 if dense else np.int64)
        return Frame(0, columns)

    def _dtype(self, name: Name) -> type:
        if is_value(name):
            return np.int64 if self.form.classes[name[1]].grain else np.float64
        return np.int64

    def _together(self, now: Members) -> Frame:
        """Tuples of several members at one marker, joined."""
        order = sorted(now)
        frame = self.batches[order[0]]
        present = {order[0]}
        for member in order[1:]:
            other = self.batches[member]
            shared = [n for n in other.columns if n in frame.columns and is_value(n)]
            on = [EVENT, *shared]
            runs, start, length = pair_up(
                [frame[n] for n in on], [other[n] for n in on], frame.rows, other.rows
            )
            parts = []
            for cut in blocks(length):
                left, position = expand(start[cut], length[cut])
                right = runs[position]
                mine = frame.take(left + cut.start)
                theirs = {n: c[right] for n, c in other.columns.items() if n not in on}
                joined = mine.with_columns({**theirs, **join_weights(mine, other, right)})
                parts.append(apply_join_predicates(self.view, joined, present, {member}))
            present.add(member)
            if not parts:
                return Frame(0, {})
            frame = concat(parts)
            if frame.rows == 0:
                return frame
        return frame

    def _join_past(
        self,
        frame: Frame,
        past: Members,
        now: Members,
        target: SynopsisTable,
    ) -> Iterator[Frame]:
        """Join rows at their marker with a table's matches from strictly before it."""
        table = self.view.tables[past]
        events = self._events(table, frame)
        if events.rows == 0:
            return iter(())
        needed = {k.member for k in target.kept}
        window = find_window(table, now, self.form.times)
        summed = (
            not table.frontier
            and not table.matched
            and table.latest is None
            and (
                not table.kept
                or (
                    len(table.kept) == 1
                    and window is not None
                    and table.kept[0].member not in needed
                    and self.view.is_latest(table.kept[0].member, past)
                    and not self.view.have_unequal_times(past, now)
                )
            )
        )
        if summed:
            return look_up_sums(self.view, frame, table, events, window or (None, 1))
        if not table.kept:
            return look_up_best(self.view, frame, table, events)
        return join_single_matches(self.view, frame, table, events, past, now)

    def _events(self, table: SynopsisTable, frame: Frame) -> Frame:
        """State and new matches of a table that rows may be joined with."""
        new = self.new[table.members]
        names = [n for n in merging_columns(table) if is_value(n) and n in frame.columns]
        events = self._with_old(table, names, frame, new)
        if not table.matched:
            return events
        return events.with_columns({UNTIL: find_matched(table, events, self.batches)})

    def _with_old(
        self, table: SynopsisTable, names: Sequence[Name], wanted: Frame, more: Frame
    ) -> Frame:
        """Some rows, and before them those of a table's state that are equal in some columns to
        one of those wanted (or all of the state)."""
        return _put_before(self._old(table, names, wanted), more)

    def _old(self, table: SynopsisTable, names: Sequence[Name], wanted: Frame) -> Frame | None:
        """The rows of a table's state, or only those that are equal in some columns to one of those
        wanted; of what is elsewhere, these alone."""
        held = self._held(table, names, wanted)
        more = None if self.cold is None else self.cold.look_up(table.members, names, wanted)
        return held if more is None else _put_before(held, more)

    def _held(self, table: SynopsisTable, names: Sequence[Name], wanted: Frame) -> Frame | None:
        """As _old, of what is in memory."""
        held = self.state.stored.get(table.members)
        if held is None or isinstance(held, Frame):
            return held
        if not names or not are_few(wanted.rows, held.rows):
            return held.frame()
        return held.look_up(names, wanted)

    # -- novelty and state -------------------------------------------------------------------

    def _novel(self, table: SynopsisTable, frame: Frame) -> Frame:
        """Set semantics: only what neither the state nor an earlier marker has."""
        names = table_columns(table)
        old = self._old(table, merging_columns(table), frame)
        final = table is self.plan.tables[-1] and self.last is not None
        least = final and len(table.frontier) == 1
        before = 0 if old is None else old.rows
        if least and not table.samples and before * _FEW < frame.rows:
            timed = self.last is None or self.last.timed
            frame = least_rows(frame, names, timed=timed).select(list(frame.columns))
        both = _put_before(old, frame)
        if table.frontier:
            last = table is self.plan.tables[-1]  # what was emitted before is not emitted again
            if table.samples:
                best, _ = keep_apart(frame, table)
            elif least:
                self.best[table.members] = best = least_rows(both, names) if before else frame
            else:
                best, _ = pareto_front(both if last else frame, names, len(table.frontier))
            best = best.select(list(frame.columns))
            return best.take(best[EVENT] > LONG_AGO) if last else best
        known = both.rows - frame.rows
        codes, count = group_codes([both[n] for n in names], both.rows)
        order = np.arange(both.rows)  # what is known comes first, then what is first in time
        order[known:] = known + order_rows(*pack([frame[EVENT]], frame.rows))
        first = np.full(count, -1, dtype=np.int64)
        first[codes[order][::-1]] = order[::-1]
        fresh = both.take(np.sort(first[first >= known]))
        if not table.samples:
            return fresh
        fresh = fresh.take(np.argsort(fresh[EVENT], kind="stable"))
        return fresh.take(thin_rows(table, old, fresh))

    def carry(self, now: int) -> KernelState:
        """The state after the chunk's last marker: settled, merged, without what expired."""
        kept = [t for t in self.tables if t.stored]
        if self.last is not None and self.cold is None and self.last.forgets(self.plan.tables[-1]):
            kept.remove(self.plan.tables[-1])
        return KernelState({t.members: self._settle(t, now) for t in kept})

    def _settle(self, table: SynopsisTable, now: int) -> Frame | KeptRows:
        held, new = self.state.stored.get(table.members), self.new[table.members]
        if table.matched:
            new = new.take(find_matched(table, new, self.batches) > now)
        if held is not None and are_few(new.rows, held.rows):
            kept = held if isinstance(held, KeptRows) else KeptRows(held)
            gone = find_places(table, kept, self.batches)
            return compact_kept(table, kept, new, now, bag=self.bag, matched=gone)
        best = self.best.get(table.members)
        if best is None or table.kept:
            rows = _put_before(self._held(table, (), new), new)
            if table.matched:
                rows = rows.take(find_matched(table, rows, self.batches) > now)
            return compact_table(table, rows, now, bag=self.bag)
        return best.with_columns({EVENT: np.full(best.rows, LONG_AGO, dtype=np.int64)})


def _put_before(old: Frame | None, more: Frame) -> Frame:
    """Rows, and others before them, if there are any."""
    return more if old is None or not old.rows else concat([old.select(list(more.columns)), more])


def _with_sums(plan: SynopsisPlan, member: int, batch: Frame) -> Frame:
    """A member's tuples with what is summed of them."""
    if batch.rows == 0 and EVENT not in batch.columns:
        return batch
    made = {
        total(place): multiply(add_exact(batch[value(fold.value)], fold.shift), batch[WEIGHT])
        for place, fold in enumerate(plan.form.folds or ())
        if fold.function is FoldFunction.SUM and fold.member == member
        if total(place) not in batch.columns
    }
    return batch.with_columns(made) if made else batch


def advance_kernel(
    plan: SynopsisPlan,
    state: KernelState,
    batches: Sequence[Frame],
    now: int,
    last: LastResult | None = None,
    cold: ColdTables | None = None,
) -> tuple[Frame, KernelState]:
    """Advance one plan over a chunk that ends at a marker.

    Args:
        plan: the plan.
        state: what the last chunk carried.
        batches: per member, its tuples of the chunk: EVENT, the stamp, values, WEIGHT.
        now: the last timestamp of the chunk (a step); every later tuple is later than it.
        last: only the last result of a key is asked for (None: they are all).
        cold: rows of the state that are not in memory (None: there are none).

    Returns:
        The results completed in the chunk (EVENT is `at`), and the state to carry.
    """
    chunk = _advance(plan, plan.tables, state, batches, last, cold)
    return chunk.new[plan.tables[-1].members], chunk.carry(now)


def advance_tables(
    plan: SynopsisPlan,
    tables: Sequence[SynopsisTable],
    state: KernelState,
    batches: Sequence[Frame],
    now: int,
) -> KernelState:
    """As advance_kernel, of some tables only (with all that their steps use); of members that no
    step of theirs takes in, the batches are not looked at."""
    return _advance(plan, tables, state, batches).carry(now)


def _advance(
    plan: SynopsisPlan,
    tables: Sequence[SynopsisTable],
    state: KernelState,
    batches: Sequence[Frame],
    last: LastResult | None = None,
    cold: ColdTables | None = None,
) -> _Chunk:
    summed = [_with_sums(plan, m, b) for m, b in enumerate(batches)]
    chunk = _Chunk(plan, tables, state, summed, last, cold)
    for table in tables:
        chunk.new[table.members] = chunk.grow(table)
    return chunk
