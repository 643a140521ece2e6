"""A row and a later one beside it, taken apart: what the two are, and what they have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ontoweir.rewriter.algebra.equality_classes import (
    condition_attributes,
    map_condition,
    valued_attributes,
)
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.standing.standing_rows import KEY


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and a later one that ends it. `own`: the columns of the row that are the key; `ender`:
    the query of the later row's key; `inclusive`: it may be of the same time; `replaced`: the row
    is one of those that end others; `ever`: it may be earlier, too."""

    own: tuple[Attribute, ...]
    ender: SpjQuery
    inclusive: bool
    replaced: bool
    ever: bool = False


def read_hit(
    row: SpjQuery, both: SpjQuery, times: Sequence[str], stamps: Mapping[str, str]
) -> Hit | None:
    """The row and the later one, of which a join is (None: it is no such join).

    Args:
        row: the query of the row, over one stream and static relations.
        both: that of the rows beside which there is a later one.
        times: the variables that are times of the row's stream.
        stamps: of every stream, its timestamp.
    """
    outputs = dict(both.outputs)
    mine = {a.alias for n in times if n in outputs for a in output_attributes(outputs[n])}
    if len(mine) != 1:
        return None
    for same in _match(row, both, next(iter(mine)), stamps):
        hit = _split(row, both, same, stamps)
        if hit is not None:
            return hit
    return None


def show_key(key: Sequence[Attribute]) -> tuple[tuple[str, Output], ...]:
    """The outputs that are the key."""
    return tuple((f"{KEY} {n + 1}", LiteralOutput(a)) for n, a in enumerate(key))


def _match(
    row: SpjQuery, both: SpjQuery, alias: str, stamps: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """The ways to find the row's occurrences in the join; `alias`: that of its stream there."""

    def choose(rest: Sequence[Occurrence], found: dict[str, str]) -> Iterator[dict[str, str]]:
        if not rest:
            yield found
            return
        one, *others = rest
        for other in both.occurrences:
            wanted = other.alias == alias if one.table in stamps else other.table not in stamps
            if other.table == one.table and wanted and other.alias not in found.values():
                yield from choose(others, {**found, one.alias: other.alias})

    return choose(row.occurrences, {})


def _split(
    row: SpjQuery, both: SpjQuery, same: Mapping[str, str], stamps: Mapping[str, str]
) -> Hit | None:
    """The parts of the join, where the row's occurrences are these of it."""
    back = {theirs: mine for mine, theirs in same.items()}
    table = {o.alias: o.table for o in both.occurrences}
    others = [o for o in both.occurrences if o.alias not in back]
    if sum(o.table in stamps for o in others) != 1:
        return None
    here, there, key, order = [], [], dict[Attribute, Attribute](), set[Op]()
    for condition in both.conditions:
        aliases = {a.alias for a in condition_attributes(condition)}
        if aliases <= back.keys():
            here.append(condition)
        elif not aliases & back.keys():
            there.append(condition)
        else:
            sides = _as_of(condition, back)
            if sides is None:
                return None
            op, later, mine = sides
            timed = [a.column == stamps.get(table[a.alias]) for a in (later, mine)]
            if timed == [True, True] and op in (Op.GT, Op.GE):
                order.add(op)
            elif timed == [False, False] and op is Op.EQ and key.get(mine, later) == later:
                key[mine] = later
            else:
                return None
    if len(order) > 1 or not key:
        return None
    moved = _Moved(back)
    said, wanted = _tell(map(moved, here)), _tell(row.conditions)
    stamped = {Attribute(o.alias, stamps[o.table]) for o in row.occurrences if o.table in stamps}
    known = {a for c in both.conditions for a in valued_attributes(c) if a.alias in back}
    valued = {a for a in wanted[0] - stamped if not is_bucket(a.column)}
    if said[1] != wanted[1] or not valued <= set(map(moved.place, known)):
        return None
    own = tuple(sorted(key, key=lambda a: (moved.place(a).alias, a.column)))
    named = _Moved({o.alias: f"ender {n}" for n, o in enumerate(others)})
    ends = tuple(named.place(key[a]) for a in own)
    conditions = dict.fromkeys(replace(named(c), source=None) for c in there)
    conditions |= dict.fromkeys(NotNull(a) for a in ends)
    occurrences = tuple(Occurrence(named.of[o.alias], o.table) for o in others)
    ender = SpjQuery(occurrences, tuple(conditions), show_key(ends))
    shown = tuple(moved.place(a) for a in own)
    replaced = bool(order) and is_among(row, ender, shown)
    return Hit(shown, ender, order != {Op.GT}, replaced, not order)


class _Moved:
    """Conditions with other aliases."""

    def __init__(self, of: Mapping[str, str]) -> None:
        self.of = of

    def place(self, attribute: Attribute) -> Attribute:
        """An attribute with the alias that it has then."""
        return Attribute(self.of[attribute.alias], attribute.column)

    def __call__(self, condition: Condition) -> Condition:
        return map_condition(condition, self.place)


def is_among(row: SpjQuery, ender: SpjQuery, mine: Sequence[Attribute]) -> bool:
    """Whether the row is one of those that end others, which are of one stream alone: with the same
    key, or one that is equal to it, and all that is said of these is said of the row too.

    Args:
        row: the query of the row.
        ender: that of those that end others, whose outputs are their key.
        mine: the columns that are the row's key.
    """
    if len(ender.occurrences) != 1:
        return False
    (of,) = ender.occurrences
    same = [o.alias for o in row.occurrences if o.table == of.table]
    if len(same) != 1:
        return False
    ends = [a for _, output in ender.outputs for a in output_attributes(output)]
    if len(ends) != len(mine):
        return False
    (own,) = same
    equal = {
        frozenset((c.left, c.right))
        for c in row.conditions
        if isinstance(c, Compare) and c.op is Op.EQ and not c.offset
    }
    for told, key in zip(mine, ends, strict=True):
        column = Attribute(own, key.column)
        if told != column and frozenset((told, column)) not in equal:
            return False

    def plain(conditions: Iterable[Condition]) -> tuple[set[Attribute], set[Condition]]:
        return _tell(map_condition(c, lambda a: Attribute("", a.column)) for c in conditions)

    ours = plain(c for c in row.conditions if {a.alias for a in condition_attributes(c)} == {own})
    valued = {Attribute("", a.column) for c in row.conditions for a in _list_valued(c, own)}
    theirs = plain(ender.conditions)
    return theirs[0] <= ours[0] | valued | {Attribute("", a.column) for a in ends} and (
        theirs[1] <= ours[1]
    )


def _list_valued(condition: Condition, alias: str) -> list[Attribute]:
    """The columns of a table that have a value where a condition holds."""
    return [a for a in valued_attributes(condition) if a.alias == alias]


def _tell(conditions: Iterable[Condition]) -> tuple[set[Attribute], set[Condition]]:
    """The attributes that have a value, and the other conditions, each written in one way."""
    valued, rest = set[Attribute](), set[Condition]()
    for condition in conditions:
        valued |= set(valued_attributes(condition))
        if isinstance(condition, NotNull):
            continue
        made = replace(condition, source=None)
        if isinstance(made, Compare) and isinstance(made.right, Attribute) and not made.offset:
            left, right = sorted((made.left, made.right))
            turned = made.op if left == made.left else made.op.flipped()
            made = replace(made, left=left, op=turned, right=right)
        rest.add(made)
    return valued, rest


def _as_of(condition: Condition, own: Mapping[str, str]) -> tuple[Op, Attribute, Attribute] | None:
    """A comparison of two rows, as one of the later row with the own one."""
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        return None
    left, op, right = condition.left, condition.op, condition.right
    if condition.offset or (left.alias in own) == (right.alias in own):
        return None
    if left.alias in own:
        left, op, right = right, op.flipped(), left
    return op, left, right
