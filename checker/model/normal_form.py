"""The normal form a decision is made on: members, value classes, what relates them ([S] Def. 4).

A *member* is one stream occurrence with the static occurrences folded into it. A *value class* is
a set of attributes that the selection makes equal (up to a shift). Conditions inside a member are
local: they hold or fail when its tuple arrives. What remains relates classes of different members.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import ClosingRule, Scalar
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    FoldFunction,
    Occurrence,
    SpjQuery,
    output_attributes,
)


class Kind(StrEnum):
    """What values of a class are compared as."""

    NUMBER = "number"
    FLOAT = "float"
    STRING = "string"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Of a static relation's column: distinct values, and extremes of numbers (of doubles None:
    infinite)."""

    distinct: int
    minimum: Scalar | None = None
    maximum: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the static data (empty: the schema alone is known)."""

    rows: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], ColumnStatistics] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Domain:
    """The values a class can take: finite or not; how many, if known, and a formula for it.

    `low`, `high`: limits in units, where known. `values`: the constants it is limited to.
    `within`: columns (static relation, column) that hold every value. A run filters every member
    by these when a tuple arrives, so that no synopsis holds a value outside the domain. `awaited`:
    it is finite only because finite streams hold it, or as it is computed of what is, so that the
    values are not known beforehand.
    """

    finite: bool
    size: int | None
    formula: str
    low: int | Fraction | None = None
    high: int | Fraction | None = None
    values: tuple[Scalar, ...] | None = None
    within: tuple[tuple[str, str], ...] = ()
    awaited: bool = False

    @property
    def known(self) -> bool:
        """Whether it is finite, and its values are known before any tuple arrives."""
        return self.finite and not self.awaited


@dataclass(frozen=True, slots=True)
class Member:
    """A stream occurrence and the static occurrences folded into it.

    `local`: conditions over its attributes alone. `first`, `last`: limits of its timestamps, in
    steps. `total`: the most tuples of the stream that ever pass, by a key without the timestamp
    (the number, None if it is not known, and a formula); None: nothing limits them. `spacing`:
    its timestamps are multiples of so many steps. `rate`: how many tuples of the stream share a
    timestamp at most, as declared (None: it is not).
    """

    index: int
    alias: str
    stream: str
    statics: tuple[Occurrence, ...]
    local: tuple[Condition, ...]
    first: int | None
    last: int | None
    total: tuple[int | None, str] | None = None
    spacing: int = 1
    rate: int | None = None

    def timestamps(self, steps: int) -> int:
        """How many different timestamps so many steps hold, at most."""
        return -(-max(steps, 0) // self.spacing)

    @property
    def finite(self) -> bool:
        """Whether it has finitely many tuples: its timestamps have an upper limit ([S]
        preprocessing step 3), or a key of it has finitely many values."""
        return self.last is not None or self.total is not None


def unit_of(kind: Kind, numbers: int, floats: int) -> int:
    """How many units one is, of values of a kind, where numbers and doubles have these."""
    match kind:
        case Kind.NUMBER:
            return numbers
        case Kind.FLOAT:
            return floats
        case Kind.STRING | Kind.BOOLEAN | Kind.DATE | Kind.TIMESTAMP:
            return 1
        case _:
            assert_never(kind)


@dataclass(frozen=True, slots=True)
class ValueClass:
    """Attributes made equal: `attribute = value + shift` (units) for every listed one.

    `members` hold at least one of them. `grain`: values are multiples of it (0: dense).
    `optional`: NULL is one of the values that are counted.
    """

    index: int
    kind: Kind
    grain: int
    attributes: tuple[tuple[Attribute, int | Fraction], ...]
    members: frozenset[int]
    domain: Domain
    projected: bool
    optional: bool = False

    @property
    def name(self) -> str:
        """A readable name: its first attribute."""
        return str(self.attributes[0][0])


@dataclass(frozen=True, slots=True)
class Inequality:
    """`value(x) - value(y) <= limit` (`<` where strict) between classes of different members,
    implied by nothing else. `clips`: finitely many comparisons matter (theory §8, clipping)."""

    x: int
    y: int
    limit: int | Fraction
    strict: bool
    clips: bool
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Disequality:
    """`value(x) - value(y) != shift`."""

    x: int
    y: int
    shift: int | Fraction
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`t_later - t_earlier <= steps` between two members (negative: a minimum distance)."""

    later: int
    earlier: int
    steps: int
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class TimeDifference:
    """`t_left != t_right + steps` between two members."""

    left: int
    right: int
    steps: int = 0
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class SoleMatch:
    """A many-one join ([B]): one tuple of member `child` at most joins a tuple of `parent`, by
    equal values of some classes, as no two of its stream agree on them."""

    parent: int
    child: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpenValues:
    """An equality of rows of one stream by all columns of a rule that closes their values: no row
    waits for another one when its value is closed.

    `stream`, `rule`: what is declared; `values`: the classes of the rule's columns, in their order;
    `members`: those that it equates, all that hold these classes; `size`, `formula`: how many
    values are open at once. `rows`: of a value so many rows come at most, and each is one tuple of
    a member, so that whatever these hold is few (None: not declared).
    """

    stream: str
    rule: ClosingRule
    values: tuple[int, ...]
    members: frozenset[int]
    size: int | None
    formula: str
    rows: int | None = None

    @property
    def read(self) -> set[str]:
        """The columns by which the stream says what is closed."""
        return {*self.rule.columns, *([self.rule.ends] if self.rule.ends else [])}

    @property
    def coded(self) -> int:
        """The class whose values a run tells apart by when they were open."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class FoldedValue:
    """A fold of a query: of the values of a class (plus `shift`), which `member` holds."""

    name: str
    function: FoldFunction
    value: int
    shift: int | Fraction
    member: int


@dataclass(frozen=True, slots=True)
class NormalForm:
    """One disjunct, ready to be decided.

    `unit`: numbers are stored as whole multiples of 1/unit, doubles as multiples of 1/floats.
    `lag[i][j]` = sup(t_j - t_i), None: infinite (theory §7). `strings`: codes of the string
    constants.
    """

    query: SpjQuery
    distinct: bool
    satisfiable: bool
    unit: int
    floats: int
    members: tuple[Member, ...]
    classes: tuple[ValueClass, ...]
    class_of: Mapping[Attribute, int]
    kinds: Mapping[Attribute, Kind]
    inequalities: tuple[Inequality, ...]
    disequalities: tuple[Disequality, ...]
    times: tuple[TimeLimit, ...]
    time_differences: tuple[TimeDifference, ...]
    lag: tuple[tuple[int | None, ...], ...]
    bounds: DifferenceBounds
    class_nodes: tuple[int, ...]
    """The node of `bounds` that stands for a class."""

    rates: tuple[int | None, ...]
    """The most tuples of each member, statics folded in, that share a timestamp (None: unknown)."""

    totals: tuple[int | None, ...]
    """The most tuples of each member that there ever are, statics folded in (None: unknown, or
    without limit)."""

    determined: tuple[tuple[frozenset[int], frozenset[int], int], ...]
    """Keys of static relations: the values of these classes determine those of those, in rows of
    the member with which the relation is joined."""

    folds: tuple[FoldedValue, ...] | None = None
    """What is folded over the matches of a group; None: the matches themselves are the answer."""

    sole: tuple[SoleMatch, ...] = ()
    """The many-one joins that are declared, between members that a lag limits, too."""

    open: tuple[OpenValues, ...] = ()
    """The equalities by values that a rule closes, where the query is not bounded without."""

    def unit_of(self, kind: Kind) -> int:
        """How many units one is, of values of a kind."""
        return unit_of(kind, self.unit, self.floats)

    def of_alias(self, alias: str) -> set[int]:
        """The classes of which a row of an occurrence has a value itself."""
        return {c.index for c in self.classes if any(a.alias == alias for a, _ in c.attributes)}

    @property
    def closed_classes(self) -> set[int]:
        """The classes of the values that a rule closes, where groups are closed by one."""
        closed = self.query.closed
        if closed is None:
            return set()
        named = [Attribute(closed.alias, column) for column in closed.rule.columns]
        outputs = dict(self.query.outputs)
        named += [a for name in closed.keys for a in output_attributes(outputs[name])]
        return {self.class_of[a] for a in named if a in self.class_of}

    def has_unbounded_lag(self, i: int, j: int) -> bool:
        """Whether a tuple of member i may have to wait for one of member j for ever (finitely
        many tuples may: a finite stream is kept whole), or for as long as a value is open of which
        any number of rows may come."""
        if self.lag[i][j] is not None or self.members[i].finite:
            return False
        return not any(o.rows is not None and {i, j} <= o.members for o in self.open)

    def closes(self, value: int, i: int, j: int) -> bool:
        """Whether a rule closes the values of a class by which members i and j are equal."""
        return any(value in o.values and {i, j} <= o.members for o in self.open)

    def wait_of_groups(self, near: int, other: int) -> int | None:
        """For how many steps after a row of member `near`, or where a rule closes groups by it
        after its value is closed, a row of another member may come that joins it (None: for
        ever)."""
        closed = self.query.closed
        rule = None if closed is None else closed.rule
        equal = {near}
        for o in self.open:
            equal |= o.members if near in o.members and o.rule == rule else set()
        if other in equal:
            return 0
        return min((lag for i in equal if (lag := self.lag[i][other]) is not None), default=None)

    def opened(self, inside: frozenset[int]) -> tuple[OpenValues, ...]:
        """The values that are open as long as a partial match over some members waits for another
        row with them."""
        return tuple(o for o in self.open if o.members & inside and o.members - inside)

    def reach(self, start: Iterable[int]) -> frozenset[int]:
        """All members whose tuples can only arrive within a bounded lag of those of `start`."""
        reached = set(start)
        while True:
            more = {
                j for i in reached for j in range(len(self.members)) if self.lag[i][j] is not None
            } - reached
            if not more:
                return frozenset(reached)
            reached |= more
