"""Two ways to keep the negation of two sliding windows, as Golab and Özsu describe them (SIGMOD
2005, sections 5.3 and 6.4): a key is an answer as often as the first window has more of it than the
second.

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


def _negate(rows: Iterable[Row], size: int, *, stored: int, partitioned: bool) -> Outcome:
    made = Outcome()
    windows: tuple[deque[tuple[int, int]], ...] = (deque(), deque())
    counts: tuple[dict[int, int], ...] = (defaultdict(int), defaultdict(int))
    copies: tuple[dict[int, deque[int]], ...] = (defaultdict(deque), defaultdict(deque))
    view: dict[int, int] = defaultdict(int)
    parts: dict[int, dict[int, int]] = defaultdict(dict)
    width = max(1, size // PARTITIONS)
    held = 0

    def settle(key: int, now: int) -> None:
        nonlocal held
        more = max(0, counts[0][key] - counts[1][key]) - view[key]
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

    for now, link, key, _ in rows:
        for side in (0, 1):
            while windows[side] and windows[side][0][0] + size <= now:
                gone, k = windows[side].popleft()
                counts[side][k] -= 1
                if stored == 2:
                    copies[side][k].popleft()
                settle(k, gone + size)
        windows[link].append((now, key))
        counts[link][key] += 1
        if stored == 2:
            copies[link][key].append(now)
        settle(key, now)
        made.most = max(made.most, stored * (len(windows[0]) + len(windows[1])) + held)
    return made


WAYS: dict[str, Callable[[Iterable[Row], int], Outcome]] = {
    "negative": negate_by_negatives,
    "patterns": negate_by_patterns,
}
