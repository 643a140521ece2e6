"""Three ways to keep the answers of sliding windows, as Golab and Özsu describe them (SIGMOD 2005,
sections 2.3 and 5.3): by negative tuples, directly, and aware of update patterns.

Each is a few lines over lists and hash tables, in one thread, and all have the same hash tables to
find partners by: they differ in how they find what expires. An answer is (row, begin, end); the end
is not right of those that have not ended when the rows do.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

Row: TypeAlias = tuple[int, int, int, bool]
"""Time, link (0 or 1), key, and whether the selection takes it."""
Answer: TypeAlias = tuple[int, int, int]

FAR = 1 << 60
"""An end that has not come."""
PARTITIONS = 50
"""Of a state buffer that is partitioned by expiration time."""
LAZY = 0.05
"""What need not react to expirations is looked through so often, in windows."""


@dataclass(slots=True)
class Outcome:
    """The answers, and the most tuples that were stored at a time."""

    answers: list[Answer] = field(default_factory=list)
    most: int = 0


Way: TypeAlias = Callable[[Iterable[Row], int], Outcome]


def join_by_negatives(rows: Iterable[Row], size: int) -> Outcome:
    """Both windows are stored, and each tuple that leaves one is joined again, to take back what it
    has made."""
    made = Outcome()
    windows: tuple[deque[Row], deque[Row]] = (deque(), deque())
    states: tuple[dict[int, deque[int]], ...] = (defaultdict(deque), defaultdict(deque))
    view: dict[tuple[int, int, int], int] = {}
    held = 0
    for row in rows:
        now, link, key, taken = row
        for side in (0, 1):
            window, partners = windows[side], states[1 - side]
            while window and window[0][0] + size <= now:
                gone, _, k, was_taken = window.popleft()
                if not was_taken:
                    continue
                states[side][k].popleft()
                held -= 1
                for other in partners.get(k, ()):
                    pair = (gone, other) if side == 0 else (other, gone)
                    made.answers.append((k, view.pop((k, *pair)), gone + size))
        windows[link].append(row)
        if taken:
            states[link][key].append(now)
            held += 1
            for other in states[1 - link].get(key, ()):
                view[(key, now, other) if link == 0 else (key, other, now)] = now
        made.most = max(made.most, len(windows[0]) + len(windows[1]) + held + len(view))
    return made


def join_directly(rows: Iterable[Row], size: int) -> Outcome:
    """Answers carry their end. State and view are lists in order of arrival, which are looked
    through as a whole for what has expired."""
    made = Outcome()
    states: tuple[dict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
    view: list[tuple[int, int, int]] = []
    held, due = 0, 0.0
    for now, link, key, taken in rows:
        if now >= due:
            due = now + LAZY * size
            view = [answer for answer in view if answer[0] > now]
            held = 0
            for state in states:
                for k in list(state):
                    kept = [t for t in state[k] if t + size > now]
                    held += len(kept)
                    if kept:
                        state[k] = kept
                    else:
                        del state[k]
        if taken:
            states[link][key].append(now)
            held += 1
            for other in states[1 - link].get(key, ()):
                if other + size > now:
                    view.append((other + size, key, now))
                    made.answers.append((key, now, other + size))
        made.most = max(made.most, held + len(view))
    return made


def join_by_patterns(rows: Iterable[Row], size: int) -> Outcome:
    """The windows' state expires first in, first out (WKS); the view, which does not (WK), is
    partitioned by expiration time, and whole partitions are dropped."""
    made = Outcome()
    states: tuple[dict[int, deque[int]], ...] = (defaultdict(deque), defaultdict(deque))
    orders: tuple[deque[tuple[int, int]], ...] = (deque(), deque())
    view = _Partitions(size)
    due = 0.0
    for now, link, key, taken in rows:
        if now >= due:
            due = now + LAZY * size
            view.drop(now)
            for state, order in zip(states, orders, strict=True):
                while order and order[0][0] + size <= now:
                    state[order.popleft()[1]].popleft()
        if taken:
            states[link][key].append(now)
            orders[link].append((now, key))
            for other in states[1 - link].get(key, ()):
                if other + size > now:
                    view.add(other + size, key)
                    made.answers.append((key, now, other + size))
        made.most = max(made.most, len(orders[0]) + len(orders[1]) + view.count)
    return made


class _Partitions:
    """Tuples by when they expire, in partitions of equal width; each is in order of expiration,
    where what expires is asked for at once."""

    __slots__ = ("count", "first", "held", "width")

    def __init__(self, size: int) -> None:
        self.width = max(1, size // PARTITIONS)
        self.held: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.first, self.count = 0, 0

    def add(self, end: int, key: int) -> None:
        """Add one, in no order."""
        self.held[end // self.width].append((end, key))
        self.count += 1

    def drop(self, now: int) -> None:
        """Forget whole partitions that have expired."""
        while (self.first + 1) * self.width <= now:
            self.count -= len(self.held.pop(self.first, ()))
            self.first += 1

    def add_in_order(self, end: int, key: int) -> None:
        """Add one, in order of expiration."""
        heappush(self.held[end // self.width], (end, key))

    def expire(self, now: int) -> Iterator[tuple[int, int]]:
        """Take out what has expired, where all is in order."""
        while self.first * self.width <= now:
            mine = self.held.get(self.first)
            while mine and mine[0][0] <= now:
                yield heappop(mine)
            if (self.first + 1) * self.width > now:
                return
            self.held.pop(self.first, None)
            self.first += 1


class DistinctByNegatives:
    """Duplicate elimination that stores its input, by value, and its output; each tuple that leaves
    the window comes again, negative."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.window: deque[tuple[int, int]] = deque()
        self.input: dict[int, deque[int]] = defaultdict(deque)
        self.output: dict[int, int] = {}

    @property
    def stored(self) -> int:
        """How many tuples it has: window, input and output."""
        return 2 * len(self.window) + len(self.output)

    def expire(self, now: int) -> Iterator[Answer]:
        """What ceases to be an answer: value, begin, end."""
        while self.window and self.window[0][0] + self.size <= now:
            gone, value = self.window.popleft()
            times = self.input[value]
            times.popleft()
            if not times:
                del self.input[value]
                yield value, self.output.pop(value), gone + self.size

    def open(self) -> Iterator[tuple[int, int]]:
        """The answers that hold, and since when."""
        yield from self.output.items()

    def arrive(self, now: int, value: int) -> bool:
        """Whether a value becomes an answer."""
        self.window.append((now, value))
        self.input[value].append(now)
        if value in self.output:
            return False
        self.output[value] = now
        return True


class DistinctDirectly:
    """Duplicate elimination that stores input and output as lists in order of arrival: for every
    output tuple that expires, the input is looked through for another one."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.input: deque[tuple[int, int]] = deque()
        self.output: dict[int, tuple[int, int]] = {}

    @property
    def stored(self) -> int:
        """How many tuples it has: input and output."""
        return len(self.input) + len(self.output)

    def expire(self, now: int) -> Iterator[Answer]:
        """What ceases to be an answer: value, begin, end."""
        while self.input and self.input[0][0] + self.size <= now:
            self.input.popleft()
        expired = [(v, e) for v, e in self.output.items() if e[1] <= now]
        for value, (begin, end) in expired:
            last = max((t for t, v in self.input if v == value), default=None)
            if last is None:
                del self.output[value]
                yield value, begin, end
            else:
                self.output[value] = begin, last + self.size

    def open(self) -> Iterator[tuple[int, int]]:
        """The answers that hold, and since when."""
        yield from ((value, begin) for value, (begin, _) in self.output.items())

    def arrive(self, now: int, value: int) -> bool:
        """Whether a value becomes an answer."""
        self.input.append((now, value))
        if value in self.output:
            return False
        self.output[value] = now, now + self.size
        return True


class DistinctByPatterns:
    """δ*: of each output tuple also the youngest one with its value, and no input."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.output: dict[int, int] = {}
        self.youngest: dict[int, int] = {}
        self.ends = _Partitions(size)

    @property
    def stored(self) -> int:
        """How many tuples it has: output, and the youngest ones."""
        return len(self.output) + len(self.youngest)

    def expire(self, now: int) -> Iterator[Answer]:
        """What ceases to be an answer: value, begin, end."""
        for end, value in self.ends.expire(now):
            last = self.youngest.pop(value, None)
            if last is None:
                yield value, self.output.pop(value), end
            else:
                self.ends.add_in_order(last + self.size, value)

    def open(self) -> Iterator[tuple[int, int]]:
        """The answers that hold, and since when."""
        yield from self.output.items()

    def arrive(self, now: int, value: int) -> bool:
        """Whether a value becomes an answer."""
        if value in self.output:
            self.youngest[value] = now
            return False
        self.output[value] = now
        self.ends.add_in_order(now + self.size, value)
        return True


Distinct: TypeAlias = DistinctByNegatives | DistinctDirectly | DistinctByPatterns


def keep_distinct(make: Callable[[int], Distinct]) -> Way:
    """The distinct keys of a link, by one kind of duplicate elimination."""

    def run(rows: Iterable[Row], size: int) -> Outcome:
        made, kept = Outcome(), make(size)
        for now, _, key, _ in rows:
            made.answers.extend(kept.expire(now))
            kept.arrive(now, key)
            made.most = max(made.most, kept.stored)
        made.answers += [(value, begin, FAR) for value, begin in kept.open()]
        return made

    return run


def join_distinct(make: Callable[[int], Distinct], *, shared: bool) -> Way:
    """The keys that are in both links, each once: duplicates are eliminated, then keys joined.
    `shared`: the join looks keys up in what the eliminations store; else it has its own copies."""

    def run(rows: Iterable[Row], size: int) -> Outcome:
        made = Outcome()
        sides = make(size), make(size)
        copies: tuple[set[int], set[int]] = (set(), set())
        view: dict[int, int] = {}

        def expire(moment: int) -> None:
            ended = [(e, v, n) for n, s in enumerate(sides) for v, _, e in s.expire(moment)]
            for end, value, side in sorted(ended):
                if not shared:
                    copies[side].discard(value)
                if value in view:
                    made.answers.append((value, view.pop(value), end))

        for now, link, key, _ in rows:
            expire(now)
            if sides[link].arrive(now, key):
                if not shared:
                    copies[link].add(key)
                if key in (sides[1 - link].output if shared else copies[1 - link]):
                    view[key] = now
            stored = sides[0].stored + sides[1].stored + len(view)
            stored += 0 if shared else len(copies[0]) + len(copies[1])
            made.most = max(made.most, stored)
        made.answers += [(value, begin, FAR) for value, begin in view.items()]
        return made

    return run
