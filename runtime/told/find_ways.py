"""By which columns rows of a join are found, so that where little came, little is looked at."""

from collections.abc import Iterator
from dataclasses import dataclass

from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.runtime.changes.change_feed import ChangeFeed, JoinedFeed, PartFeed


@dataclass(frozen=True, slots=True)
class Edge:
    """What a part tells (`names`) equals columns of another. `mine`, `others`: columns of the rows
    of both that are the same as these, where there are groups of rows, too."""

    of: int
    names: tuple[str, ...]
    mine: tuple[str, ...]
    to: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ways:
    """How rows that belong together are found.

    `edges`: from part to part, in both directions; `own`: by which columns the rows of a part that
    are looked at are found, where one changes: all of its group, or for LEFT JOIN those that are
    beside the same row; `again`: where joined rows are told once, or grouped: a part that is in
    every row, columns of it, and what these are called in the joined rows (None: no more are looked
    at); `found`: by which columns the rows of each part are found, beside those by which they are
    anyway.
    """

    edges: tuple[Edge, ...]
    own: tuple[tuple[str, ...], ...]
    again: tuple[int, tuple[str, ...], tuple[str, ...]] | None
    found: tuple[tuple[tuple[str, ...], ...], ...]


def find_ways(of: JoinedFeed) -> Ways | None:
    """How the rows of a join are found (None: all have to be looked at). Where a part has groups,
    its rows are found by what these are of, so that of each group all are."""
    if not all(_is_found(part) for part in of.parts):
        return None
    edges = tuple(_list_edges(of))
    if any(not edge.others for edge in edges):
        return None
    own = tuple(_own_names(of, edges, number) for number in range(len(of.parts)))
    together = of.joined.distinct or of.groups is not None
    again = _find_again(of) if together else None
    if together and again is None:
        return None
    found = []
    for number, one in enumerate(of.parts):
        ways = [edge.others for edge in edges if edge.to == number]
        ways.append(own[number])
        ways += [again[1]] if again is not None and again[0] == number else []
        known = ((), _key_of(one.feed))
        found.append(tuple(names for names in dict.fromkeys(ways) if names not in known))
    return Ways(edges, own, again, tuple(found))


def _is_found(part: PartFeed) -> bool:
    """Whether some rows of a part are found without the others: those of its groups, too."""
    feed, groups = part.feed, part.groups
    inner = feed.joined is not None or feed.groups is not None or feed.numbered is not None
    if inner or part.part.nulls or part.part.kind in (JoinKind.BEGUN, JoinKind.UNION):
        return False
    if groups is None:
        return True
    made = groups.aggregation
    other = made.panes is not None or made.session_us is not None
    other |= made.around is not None or made.numbered is not None
    return bool(made.group) and not other


def _source_of(made: Aggregation | None, name: str) -> str | None:
    """The column of the rows that is the same in what is made of them (None: it is another)."""
    if made is None:
        return name
    for computed, expression in made.computed:
        if computed == name:
            name = expression.column if isinstance(expression, Field) else ""
            break
    return name if name in made.group else None


def _list_edges(of: JoinedFeed) -> Iterator[Edge]:
    """The parts that are joined by equal columns, in both directions; without `others`, where
    these are values of groups."""
    for number, one in enumerate(of.joined.parts):
        by: dict[int, list[tuple[str, str]]] = {}
        for other, own in one.equal:
            before, _, name = other.partition(" ")
            pairs = by.setdefault(int(before), [])
            pair = name, own.partition(" ")[2]
            if not any(a == pair[0] or b == pair[1] for a, b in pairs):  # more are found without it
                pairs.append(pair)
        for place, pairs in by.items():
            both = [(p, _both_sources(of, (place, number), p)) for p in pairs]
            kept = [(p, s) for p, s in both if None not in s]
            theirs, mine = (tuple(p[side] for p, _ in kept) for side in (0, 1))
            found = [tuple(str(s[side]) for _, s in kept) for side in (0, 1)]
            yield Edge(place, theirs, found[0], number, found[1])
            yield Edge(number, mine, found[1], place, found[0])


def _both_sources(
    of: JoinedFeed, parts: tuple[int, int], pair: tuple[str, str]
) -> tuple[str | None, str | None]:
    """By which columns two parts are found, where one of each is equal."""
    groups = [of.parts[number].groups for number in parts]
    made = [None if work is None else work.aggregation for work in groups]
    return _source_of(made[0], pair[0]), _source_of(made[1], pair[1])


def _own_names(of: JoinedFeed, edges: tuple[Edge, ...], number: int) -> tuple[str, ...]:
    """The columns by which the rows of a part that are looked at are found, where one changes."""
    if of.joined.parts[number].kind is not JoinKind.INNER:
        return next((e.others for e in edges if e.to == number and e.of < number), ())
    groups = of.parts[number].groups
    return of.parts[number].feed.variables if groups is None else groups.aggregation.group


def _find_again(of: JoinedFeed) -> tuple[int, tuple[str, ...], tuple[str, ...]] | None:
    """A part that is in every row, and has most of the columns that tell rows, or groups of them,
    apart (None: no part has one)."""
    shape = None if of.joined.row is None else of.joined.row.shape
    names = of.joined.found if of.groups is None else of.groups.aggregation.group
    if of.groups is None and shape is None:
        names = tuple(name for name, _ in of.joined.shown)
    shown = dict(of.joined.shown)
    most: dict[str, str] = {}
    place = 0
    for number, part in enumerate(of.joined.parts):
        groups = of.parts[number].groups
        made = None if groups is None else groups.aggregation
        mine: dict[str, str] = {}
        for name in names:
            known = _source_of(shape, name)
            owner, _, column = shown[known].partition(" ") if known is not None else ("", "", "")
            if owner != str(number):
                continue
            source = _source_of(made, column)
            if source is not None:
                mine[source] = name
        if part.kind is JoinKind.INNER and len(mine) > len(most):
            place, most = number, mine
    return (place, tuple(most), tuple(most.values())) if most else None


def _key_of(feed: ChangeFeed) -> tuple[str, ...]:
    """By which columns what a feed holds is found anyway."""
    if feed.first is not None:
        return tuple(feed.first.key)
    return feed.latest or feed.variables
