"""The kernel: advances the synopses of one plan over many markers at once (theory §8).

For every table Z of the plan, E_Z is the frame of partial matches completed in this chunk, by the
marker of their last tuple. A settled partner is a strict as-of look-up in a running sum of E_X by
key, started from the state carried in; a partner inside a window is the difference of two running
sums, or, where its own timestamp or a frontier is still needed, its rows in the window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ontoweir.checker.normal_form import Inequality, Kind, TimeLimit
from ontoweir.checker.plan import SynopsisPlan, Table, Term
from ontoweir.rewriter.spj import FoldFunction
from ontoweir.runtime.columns import frontier, stamp, table_columns, total, value
from ontoweir.runtime.frame import (
    EVENT,
    LONG_AGO,
    WEIGHT,
    Array,
    Frame,
    Name,
    aggregate,
    blocks,
    check_total,
    concat,
    expand,
    first_of,
    group_codes,
    join_weights,
    multiply,
    pair_up,
    sums_of,
)
from ontoweir.runtime.keep_best import keep_best
from ontoweir.runtime.rank_values import rank_values
from ontoweir.runtime.ranks import Ranks
from ontoweir.runtime.settle_table import settle_table

Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class KernelState:
    """What is carried from chunk to chunk: the rows of every stored table."""

    tables: Mapping[Members, Frame] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """All rows held."""
        return sum(frame.rows for frame in self.tables.values())


class _Chunk:
    """One chunk being processed: E_Z by members, and the state carried in."""

    def __init__(
        self,
        plan: SynopsisPlan,
        tables: Sequence[Table],
        state: KernelState,
        batches: Sequence[Frame],
    ) -> None:
        self.plan, self.form, self.state, self.tables = plan, plan.form, state, tables
        self.bag = not plan.form.distinct
        self.batches = batches
        self.new: dict[Members, Frame] = {}
        self.by_members = {t.members: t for t in plan.tables}

    # -- growing -----------------------------------------------------------------------------

    def grow(self, table: Table) -> Frame:
        """E_Z: the matches of a table that this chunk's tuples complete."""
        columns = table_columns(table)
        by = [EVENT, *columns] if table is self.plan.tables[-1] else [*columns, EVENT]
        parts = []
        for step in table.steps:
            frame = self._together(step.now)
            seen: Members = step.now
            for past in step.past:
                if frame.rows == 0:
                    break
                frame = self._join_past(frame, seen, past, step.now, table)
                seen |= past
            else:
                if frame.rows:
                    parts.append(self._project(frame, table, by))
        if not parts:
            return self._empty(table)
        whole = concat(parts)
        if not table.frontier:
            whole = aggregate(whole, by, bag=self.bag)
        return whole if self.bag else self._novel(table, whole)

    def _empty(self, table: Table) -> Frame:
        names = [*table_columns(table), EVENT, WEIGHT]
        names += [frontier(i) for i in range(len(table.frontier))]
        names += [total(place) for place in table.sums]
        return Frame(0, {name: np.zeros(0, dtype=self._dtype(name)) for name in names})

    def _dtype(self, name: Name) -> type:
        if name[0] == "v":
            return np.int64 if self.form.classes[name[1]].grain else np.float64
        return np.float64 if name[0] == "f" and self._dense_frontiers() else np.int64

    def _dense_frontiers(self) -> bool:
        return any(g.grain == 0 for g in self.form.classes)

    def _together(self, now: Members) -> Frame:
        """Tuples of several members at one marker, joined."""
        order = sorted(now)
        frame = self.batches[order[0]]
        seen = {order[0]}
        for member in order[1:]:
            other = self.batches[member]
            shared = [n for n in other.columns if n in frame.columns and n[0] == "v"]
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
                parts.append(self._compare(joined, seen, {member}))
            seen.add(member)
            if not parts:
                return Frame(0, {})
            frame = concat(parts)
            if frame.rows == 0:
                return frame
        return frame

    def _join_past(
        self,
        frame: Frame,
        seen: Members,
        past: Members,
        now: Members,
        target: Table,
    ) -> Frame:
        """Join rows at their marker with a table's matches from strictly before it."""
        table = self.by_members[past]
        events = self._events(table)
        if events.rows == 0:
            return Frame(0, {})
        needed = {k.member for k in target.kept}
        window = _window(table, now, self.form.times)
        summed = not table.frontier and (
            not table.kept
            or (
                len(table.kept) == 1
                and window is not None
                and table.kept[0].member not in needed
                and self._is_latest(table.kept[0].member, past)
                and not self._unequal_times(past, now)
            )
        )
        if summed:
            joined = self._look_up(frame, table, events, window or (None, 1))
        elif not table.kept:
            joined = self._look_up_best(frame, table, events)
        else:
            joined = self._join_rows(frame, table, events, past, now)
        if joined.rows == 0:
            return joined
        return self._compare(joined, seen, past)

    def _is_latest(self, member: int, members: Members) -> bool:
        """Whether a member's tuple always completes a match of `members`."""
        lags = [self.form.lag[member][j] for j in members if j != member]
        return all(lag is not None and lag <= 0 for lag in lags)

    def _unequal_times(self, past: Members, now: Members) -> bool:
        return any(
            d.steps != 0 and {d.left, d.right} & past and {d.left, d.right} & now
            for d in self.form.time_differences
        )

    def _events(self, table: Table) -> Frame:
        """State and new matches of a table, by key, in the order of their markers."""
        new = self.new[table.members]
        old = self.state.tables.get(table.members)
        return new if old is None or old.rows == 0 else concat([old.select(list(new.columns)), new])

    def _grouped(
        self, frame: Frame, events: Frame, keys: Sequence[Name]
    ) -> tuple[Frame, Array, Ranks, Array, Array, Array]:
        """Events sorted by (group, marker), where each group begins, ranks in it, and which
        groups each row of a frame meets."""
        codes, count = group_codes([events[n] for n in keys], events.rows)
        search = Ranks(codes, count, events[EVENT], frame.rows)
        if search.order is not None:
            events, codes = events.take(search.order), codes[search.order]
        first = first_of(codes, count)
        groups = events.take(first)
        shared = [n for n in keys if n in frame.columns]
        runs, start, length = pair_up(
            [frame[n] for n in shared], [groups[n] for n in shared], frame.rows, groups.rows
        )
        return events, first, search, runs, start, length

    def _look_up(
        self, frame: Frame, table: Table, events: Frame, window: tuple[int | None, int]
    ) -> Frame:
        """Join with sums of weights per key, over all the past or over a window of it.

        `window`: (c, d): from now - c (None: the beginning) to now - d.
        """
        keys = [value(k.value) for k in table.keys]
        events, first, search, runs, start, length = self._grouped(frame, events, keys)
        totals = {n: _running(events[n]) for n in (WEIGHT, *sums_of(events))}
        until = search.place(frame[EVENT] - window[1] + 1)
        since = None if window[0] is None else search.place(frame[EVENT] - window[0])
        parts = []
        for cut in blocks(length):
            row, position = expand(start[cut], length[cut])
            row = row + cut.start
            group = runs[position]
            upper = search.rank_at(group, until[row])
            lower = first[group] if since is None else search.rank_at(group, since[row])
            lower = np.minimum(lower, upper)
            sums = Frame(len(row), {n: of[upper] - of[lower] for n, of in totals.items()})
            hit = sums[WEIGHT] > 0
            row, group, sums = row[hit], group[hit], sums.take(hit)
            mine = frame.take(row)
            theirs = {n: events[n][first[group]] for n in keys if n not in frame.columns}
            weights = (
                join_weights(mine, sums, np.arange(sums.rows))
                if self.bag
                else {WEIGHT: np.ones(len(row), np.int64)}
            )
            parts.append(mine.with_columns({**theirs, **weights}))
        return concat(parts) if parts else Frame(0, {})

    def _look_up_best(self, frame: Frame, table: Table, events: Frame) -> Frame:
        """Join with the best frontier per key as of strictly before the marker.

        Events carry ("until",), the marker at which a better one replaced them.
        """
        keys = [value(k.value) for k in table.keys]
        events, slots = keep_best(events, keys, len(table.frontier))
        events = events.with_columns({("slot",): slots})
        slotted = [*keys, ("slot",)]
        events, first, search, runs, start, length = self._grouped(frame, events, slotted)
        names = [*keys, *[frontier(i) for i in range(len(table.frontier))]]
        parts = []
        for cut in blocks(length):
            row, position = expand(start[cut], length[cut])
            row = row + cut.start
            group = runs[position]
            now = frame[EVENT][row]
            found = search.rank(group, now) - 1
            hit = found >= first[group]
            hit[hit] &= events[("until",)][found[hit]] >= now[hit]
            row, found = row[hit], found[hit]
            mine = frame.take(row)
            theirs = {n: events[n][found] for n in names if n not in frame.columns}
            theirs = {
                (("p", table.members, n[1]) if n[0] == "f" else n): c for n, c in theirs.items()
            }
            parts.append(mine.with_columns(theirs))
        return concat(parts) if parts else Frame(0, {})

    def _join_rows(
        self, frame: Frame, table: Table, events: Frame, past: Members, now: Members
    ) -> Frame:
        """Join with single matches whose timestamps are kept: those inside the window."""
        keys = [value(k.value) for k in table.keys]
        shared = [n for n in keys if n in frame.columns]
        both, count = group_codes(
            [np.concatenate([frame[n], events[n]]) for n in shared], frame.rows + events.rows
        )
        mine, other = both[: frame.rows], both[frame.rows :]
        search = Ranks(other, count, events[EVENT], 2 * frame.rows)
        if search.order is not None:
            events = events.take(search.order)
        at = frame[EVENT]
        high = search.rank(mine, at)
        reach = [k.live for k in table.kept if k.live is not None]
        relevant = [t.steps for t in self.form.times if t.earlier in past and t.later in now]
        if relevant and reach:
            low = search.rank(mine, at - min(relevant))
        else:
            low = search.rank(mine, np.full(frame.rows, LONG_AGO))
        length = np.maximum(high - low, 0)
        parts = []
        for cut in blocks(length):
            row, position = expand(low[cut], length[cut])
            row = row + cut.start
            left = frame.take(row)
            theirs = {
                (("p", table.members, n[1]) if n[0] == "f" else n): events[n][position]
                for n in events.columns
                if n not in frame.columns
            }
            weights = (
                join_weights(left, events, position)
                if self.bag
                else {WEIGHT: np.ones(len(row), np.int64)}
            )
            joined = left.with_columns({**theirs, **weights})
            parts.append(joined.take(self._in_time(joined, past, now)))
        return concat(parts) if parts else Frame(0, {})

    def _in_time(self, frame: Frame, past: Members, now: Members) -> Array:
        """The time constraints between past members (kept stamps) and those of the marker."""
        at = frame[EVENT]
        good = np.ones(frame.rows, dtype=np.bool_)
        for t in self.form.times:
            if t.earlier in past and t.later in now and stamp(t.earlier) in frame.columns:
                good &= at - frame[stamp(t.earlier)] <= t.steps
            if t.later in past and t.earlier in now and stamp(t.later) in frame.columns:
                good &= frame[stamp(t.later)] - at <= t.steps
        for d in self.form.time_differences:
            if d.left in past and d.right in now and stamp(d.left) in frame.columns:
                good &= frame[stamp(d.left)] != at + d.steps
            if d.right in past and d.left in now and stamp(d.right) in frame.columns:
                good &= at != frame[stamp(d.right)] + d.steps
        return good

    # -- comparing ---------------------------------------------------------------------------

    def _compare(
        self,
        frame: Frame,
        seen: Members | set[int],
        new: Members | set[int],
    ) -> Frame:
        """Check the conditions between the members in the frame and those that just joined."""
        good = np.ones(frame.rows, dtype=np.bool_)
        classes = self.form.classes
        for q in self.form.inequalities:
            x, y = classes[q.x], classes[q.y]
            if not _crosses(x.members, y.members, seen, new):
                continue
            if self._is_whole(frame, q.x, q) and self._is_whole(frame, q.y, q):
                left, right = frame[value(q.x)], frame[value(q.y)] + _number(q.limit)
                good &= (left < right) if q.strict else (left <= right)
            else:
                good &= self._frontier_holds(frame, q)
        for d in self.form.disequalities:
            x, y = classes[d.x], classes[d.y]
            if _crosses(x.members, y.members, seen, new):
                good &= frame[value(d.x)] != frame[value(d.y)] + _number(d.shift)
        return frame if bool(good.all()) else frame.take(good)

    def _is_whole(self, frame: Frame, index: int, q: Inequality) -> bool:
        """Whether a comparison can use a class's column: it is there, and not merely clipped for
        other comparisons while a frontier value holds what this one needs."""
        if value(index) not in frame.columns:
            return False
        return q.clips or not self._in_frontier(frame, index, q)

    def _in_frontier(self, frame: Frame, index: int, q: Inequality | None = None) -> bool:
        """Whether the frontier of a joined table has a class among its terms (for the sake of a
        comparison, if one is given)."""
        wanted = set() if q is None else {(q.y, 1, q.strict), (q.x, -1, q.strict)}
        parts = (
            self.by_members[name[1]].frontier[name[2]] for name in frame.columns if name[0] == "p"
        )
        return any(
            term.value == index
            for part in parts
            if q is None or wanted & set(part.serves)
            for term in part.terms
        )

    def _frontier_holds(self, frame: Frame, q: Inequality) -> Array:
        """`x <= y + limit` where a side, or both, is only there as part of a frontier value."""
        parts = [n for n in frame.columns if n[0] == "p"]
        limit = _number(q.limit)
        above, below = self._is_whole(frame, q.y, q), self._is_whole(frame, q.x, q)
        if above or below:
            inside, outside, sign = (q.x, q.y, 1) if above else (q.y, q.x, -1)
            for name in parts:
                best = self.by_members[name[1]].frontier[name[2]]
                if (outside, sign, q.strict) not in best.serves:
                    continue
                shift = next((t.shift for t in best.terms if t.value == inside), None)
                if shift is None:
                    continue
                # term - limit <= outside, for the greatest of the group's terms
                left = frame[name] - limit - _number(shift)
                right = sign * frame[value(outside)]
                return (left < right) if q.strict else (left <= right)
            raise AssertionError(f"no frontier value holds class {inside}")
        for first in parts:
            for second in parts:
                constant = self._biclique(first, second, q)
                if constant is not None:
                    total = frame[first] + frame[second] + constant
                    return (total < 0) if q.strict else (total <= 0)
        raise AssertionError(f"no frontier values hold classes {q.x} and {q.y}")

    def _biclique(self, first: Name, second: Name, q: Inequality) -> int | float | None:
        """The constant c with `f + g + c <= 0` iff every x of f is below every y of g, as the
        query asks of each pair; None where it does not ask that."""
        low = self.by_members[first[1]].frontier[first[2]]
        high = self.by_members[second[1]].frontier[second[2]]
        asked = {(p.x, p.y): p for p in self.form.inequalities}
        if q.x not in {t.value for t in low.terms} or q.y not in {t.value for t in high.terms}:
            return None
        constants = set()
        for a in low.terms:
            for b in high.terms:
                pair = asked.get((a.value, b.value))
                if pair is None or a.sign != 1 or b.sign != -1 or pair.strict != q.strict:
                    return None
                constants.add(-_number(a.shift) - _number(b.shift) - _number(pair.limit))
        return constants.pop() if len(constants) == 1 else None

    # -- projecting --------------------------------------------------------------------------

    def _project(self, frame: Frame, table: Table, by: Sequence[Name]) -> Frame:
        """Clip to a table's key and compute its frontier values."""
        columns: dict[Name, Array] = {}
        for key in table.keys:
            column = frame[value(key.value)]
            if key.breaks:
                text = self.form.classes[key.value].kind is Kind.STRING
                column = rank_values(column, key.breaks, text=text)
            if key.low is not None:
                column = np.maximum(column, _number(key.low))
            if key.high is not None:
                column = np.minimum(column, _number(key.high))
            columns[value(key.value)] = column
        for kept in table.kept:
            columns[stamp(kept.member)] = frame[stamp(kept.member)]
        for index, wanted in enumerate(table.frontier):
            columns[frontier(index)] = self._greatest(frame, wanted.terms)
        for name in (EVENT, WEIGHT, *sums_of(frame)):
            columns[name] = frame[name]
        projected = Frame(frame.rows, columns)
        return projected if table.frontier else aggregate(projected, by, bag=self.bag)

    def _greatest(self, frame: Frame, terms: Sequence[Term]) -> Array:
        """A frontier value from columns and from the frontier values of joined tables."""
        best: Array | None = None
        missing = set()
        for term in terms:
            name = value(term.value)
            if name in frame.columns and not self._in_frontier(frame, term.value):
                side = term.sign * frame[name] + _number(term.shift)
                best = side if best is None else np.maximum(best, side)
            else:
                missing.add((term.value, term.sign))
        shifts = {(t.value, t.sign): t.shift for t in terms}
        for name in frame.columns:
            if name[0] != "p" or not missing:
                continue
            part = self.by_members[name[1]].frontier[name[2]].terms
            if {(t.value, t.sign) for t in part} <= set(shifts):
                deltas = {shifts[(t.value, t.sign)] - t.shift for t in part}
                if len(deltas) == 1:
                    side = frame[name] + _number(deltas.pop())
                    best = side if best is None else np.maximum(best, side)
                    missing -= {(t.value, t.sign) for t in part}
        if best is None or missing:
            raise AssertionError("a frontier value cannot be computed")
        return best

    # -- novelty and state -------------------------------------------------------------------

    def _novel(self, table: Table, frame: Frame) -> Frame:
        """Set semantics: only what neither the state nor an earlier marker has."""
        names = table_columns(table)
        old = self.state.tables.get(table.members)
        both = (
            frame
            if old is None or old.rows == 0
            else concat([old.select(list(frame.columns)), frame])
        )
        if table.frontier:
            last = table is self.plan.tables[-1]  # what was told before is not told again
            best, _ = keep_best(both if last else frame, names, len(table.frontier))
            best = best.select(list(frame.columns))
            return best.take(best[EVENT] > LONG_AGO) if last else best
        known = both.rows - frame.rows
        codes, count = group_codes([both[n] for n in names], both.rows)
        order = np.lexsort((both[EVENT], np.arange(both.rows) >= known, codes))
        first = np.full(count, -1, dtype=np.int64)
        first[codes[order][::-1]] = order[::-1]
        return both.take(np.sort(first[first >= known]))

    def carry(self, now: int) -> KernelState:
        """The state after the chunk's last marker: settled, merged, without what expired."""
        return KernelState(
            {
                table.members: settle_table(table, self._events(table), now, bag=self.bag)
                for table in self.tables
                if table.stored
            }
        )


def _crosses(x: Members, y: Members, seen: Members | set[int], new: Members | set[int]) -> bool:
    """Whether a join brings two classes together that neither side already had together."""
    if (x & seen and y & seen) or (x & new and y & new):
        return False
    return bool((x & seen and y & new) or (y & seen and x & new))


def _number(number: int | Fraction) -> int | float:
    """A limit as numpy wants it: whole where it is whole."""
    return int(number) if number == int(number) else float(number)


def _window(
    table: Table, now: Members, times: Sequence[TimeLimit]
) -> tuple[int | None, int] | None:
    """(c, d) where matches from now - c to now - d qualify, by one kept timestamp."""
    if not table.kept:
        return (None, 1)
    if len(table.kept) > 1:
        return None
    member = table.kept[0].member
    uppers = [t.steps for t in times if t.earlier == member and t.later in now]
    lowers = [-t.steps for t in times if t.later == member and t.earlier in now]
    return (min(uppers) if uppers else None, max([1, *lowers]))


def _running(column: Array) -> Array:
    """Sums of the first 0, 1, 2 … rows."""
    check_total(np.abs(column))
    return np.concatenate([[0], np.cumsum(column)])


def _with_sums(plan: SynopsisPlan, member: int, batch: Frame) -> Frame:
    """A member's tuples with what is summed of them."""
    if batch.rows == 0 and EVENT not in batch.columns:
        return batch
    made = {
        total(place): multiply(batch[value(fold.value)] + int(fold.shift), batch[WEIGHT])
        for place, fold in enumerate(plan.form.folds or ())
        if fold.function is FoldFunction.SUM and fold.member == member
    }
    return batch.with_columns(made) if made else batch


def advance_kernel(
    plan: SynopsisPlan, state: KernelState, batches: Sequence[Frame], now: int
) -> tuple[Frame, KernelState]:
    """Advance one plan over a chunk that ends at a marker.

    Args:
        plan: the plan.
        state: what the last chunk carried.
        batches: per member, its tuples of the chunk: ("e",), ("t", member), values, ("w",).
        now: the last timestamp of the chunk (a step); every later tuple is later than it.

    Returns:
        The results completed in the chunk (("e",) is `at`), and the state to carry.
    """
    chunk = _advance(plan, plan.tables, state, batches, now)
    return chunk.new[plan.tables[-1].members], chunk.carry(now)


def advance_tables(
    plan: SynopsisPlan,
    tables: Sequence[Table],
    state: KernelState,
    batches: Sequence[Frame],
    now: int,
) -> KernelState:
    """As advance_kernel, of some tables only (with all that their steps use); of members that no
    step of theirs takes in, the batches are not looked at."""
    return _advance(plan, tables, state, batches, now).carry(now)


def _advance(
    plan: SynopsisPlan,
    tables: Sequence[Table],
    state: KernelState,
    batches: Sequence[Frame],
    now: int,
) -> _Chunk:
    chunk = _Chunk(plan, tables, state, [_with_sums(plan, m, b) for m, b in enumerate(batches)])
    for table in tables:
        chunk.new[table.members] = chunk.grow(table)
    return chunk
