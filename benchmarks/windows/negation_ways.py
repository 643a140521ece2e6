"""Two ways to keep the negation of two sliding windows, as Golab and Özsu describe them (SIGMOD
2005, sections 5.3, 6.4 and 6.6): a key is an answer as often as the first window has more of it
than the second; joined with a third one, as often as that has it for each of these.

The direct way is not compatible with negation: an answer ends before its own end where the second
window receives its key. What is answered is told as (key, time, how many more or fewer).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from window_ways import PARTITIONS, Outcome, Row


def negate_by_negatives(rows: Iterable[Row], size: int) -> Outcome:
    """Windows are stored, and once more, by key, in the negation; each tuple that leaves one comes
    again, negative, and each answer that ends is taken back by one."""
    return _negate(rows, size, stored=2, partitioned=False)


def negate_by_patterns(rows: Iterable[Row], size: int) -> Outcome:
    """Windows are queues that the negation reads; answers are partitioned by their end, and what is
    taken back before it is looked for in all partitions."""
    return _negate(rows, size, stored=1, partitioned=True)


def join_by_negatives(rows: Iterable[Row], size: int) -> Outcome:
    """The negation below, which takes its answers back by negative tuples, and the join above it,
    which stores them."""
    return _negate(rows, size, stored=2, partitioned=False, joined=True)


def join_by_patterns(rows: Iterable[Row], size: int) -> Outcome:
    """The join below, of both sides of the negation, which none is negative for; answers as of
    negate_by_patterns."""
    return _negate(rows, size, stored=1, partitioned=True, joined=True)


def _negate(
    rows: Iterable[Row], size: int, *, stored: int, partitioned: bool, joined: bool = False
) -> Outcome:
    made = Outcome()
    links = range(3 if joined else 2)
    windows: tuple[deque[tuple[int, int]], ...] = tuple(deque() for _ in links)
    counts: tuple[dict[int, int], ...] = tuple(defaultdict(int) for _ in links)
    copies: tuple[dict[int, deque[int]], ...] = tuple(defaultdict(deque) for _ in links)
    below: dict[int, int] = defaultdict(int)
    view: dict[int, int] = defaultdict(int)
    parts: dict[int, dict[int, int]] = defaultdict(dict)
    width = max(1, size // PARTITIONS)
    held, passed = 0, 0

    def settle(key: int, now: int) -> None:
        nonlocal held, passed
        wanted = max(0, counts[0][key] - counts[1][key])
        if joined:
            if stored == 2:
                passed += wanted - below[key]
                below[key] = wanted
            wanted *= counts[2][key]
        more = wanted - view[key]
        if not more:
            return
        view[key] += more
        held += more
        made.answers.append((key, now, more))
        if not partitioned:
            return
        if more > 0:
            mine = parts[(now + size) // width]
            mine[key] = mine.get(key, 0) + more
            return
        for part in sorted(parts):
            taken = min(-more, parts[part].get(key, 0))
            if taken:
                parts[part][key] -= taken
                more += taken
            if not parts[part].get(key, 1):
                del parts[part][key]
            if not parts[part]:
                del parts[part]
            if not more:
                return

    for now, link, key, taken in rows:
        for side in links:
            while windows[side] and windows[side][0][0] + size <= now:
                gone, k = windows[side].popleft()
                counts[side][k] -= 1
                if stored == 2:
                    copies[side][k].popleft()
                settle(k, gone + size)
        if not taken:
            continue
        windows[link].append((now, key))
        counts[link][key] += 1
        if stored == 2:
            copies[link][key].append(now)
        settle(key, now)
        made.most = max(made.most, stored * sum(map(len, windows)) + passed + held)
    return made


WAYS: dict[str, Callable[[Iterable[Row], int], Outcome]] = {
    "negative": negate_by_negatives,
    "patterns": negate_by_patterns,
}
JOINED: dict[str, Callable[[Iterable[Row], int], Outcome]] = {
    "negative": join_by_negatives,
    "patterns": join_by_patterns,
}
