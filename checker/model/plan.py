"""Synopsis plans: what to keep, and how partial matches grow (theory §8).

For a set K of members whose tuples are all in the past, table K maps a key to a weight: the number
of partial matches (bag), or presence with the Pareto-minimal frontier values (set).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import NormalForm, OpenValues, SoleMatch
from ontoweir.mappings.model.catalog import Scalar


@dataclass(frozen=True, slots=True)
class Grid:
    """Breakpoints `first`, `first + step`, … up to `last`, in units."""

    first: int | Fraction
    last: int | Fraction
    step: int


@dataclass(frozen=True, slots=True)
class Constants:
    """Breakpoints at constants, shifted (units)."""

    values: tuple[Scalar, ...]
    shift: int | Fraction


@dataclass(frozen=True, slots=True)
class StaticValues:
    """Breakpoints at the values of a static relation's column, shifted (units); `size`: how many
    there are, where that is known."""

    table: str
    column: str
    shift: int | Fraction
    size: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Breakpoints that a run has looked up: an array of numbers (or codes of strings), sorted."""

    numbers: Any


Break: TypeAlias = Grid | Constants | StaticValues | Points
"""Breakpoints that one partner sets, a closed union (theory §8): of a class that is only compared,
all values between two of them are one."""


@dataclass(frozen=True, slots=True)
class Key:
    """A value class in a table's key: whole, or clipped to `low`..`high`, or reduced to its place
    among `breaks`, where that loses no answer."""

    value: int
    low: int | Fraction | None = None
    high: int | Fraction | None = None
    breaks: tuple[Break, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the value itself is kept."""
        return self.low is None and self.high is None and not self.breaks


@dataclass(frozen=True, slots=True)
class Term:
    """`sign * value(class) + shift`."""

    value: int
    sign: int
    shift: int | Fraction


@dataclass(frozen=True, slots=True)
class ServedComparison:
    """A comparison with class `value`, still to come, that a frontier value is kept for: with sign
    1 `term <= value`, with sign -1 `value <= term`, up to a shift."""

    value: int
    sign: int
    strict: bool


@dataclass(frozen=True, slots=True)
class Frontier:
    """A frontier value, the greatest of its terms; of two matches with one key the one with the
    less frontier value serves every future partner that the other serves."""

    terms: tuple[Term, ...]
    serves: tuple[ServedComparison, ...]


@dataclass(frozen=True, slots=True)
class KeptTimestamp:
    """The timestamp of a member of a partial match.

    `expire_after`: the match is dropped so many steps after it, when no tuple outside can follow
    within the limit any more. `forget_after`: the timestamp is forgotten after so many steps, when
    every least distance has passed. At least one is given; both are numbers of steps.
    """

    member: int
    expire_after: int | None
    forget_after: int | None


@dataclass(frozen=True, slots=True)
class DistinctSample:
    """A value class in a table's key that is needed only because later values must differ from it.

    Whatever its domain, a sample suffices: `partners + 1` distinct values for each remaining key,
    where `partners` later values must differ from it.
    """

    value: int
    partners: int


@dataclass(frozen=True, slots=True)
class PlanStep:
    """New matches of a table: tuples of the members `now` at the marker, with matches of the
    tables `past` (pairwise disjoint member sets) from strictly before it."""

    now: frozenset[int]
    past: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Tuples:
    """Some tuples of a stream: those with a value in some columns, and without one in others
    (`valued`: whether each has one). `most`: how many there are of all that are not older, with a
    formula."""

    stream: str
    valued: frozenset[tuple[str, bool]]
    most: int
    formula: str

    def excludes(self, other: "Tuples") -> bool:
        """Whether no tuple is one of both."""
        return self.stream == other.stream and any(
            (column, not has) in other.valued for column, has in self.valued
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on rows: a number where everything is declared or known, and its formula. `of`: each
    row is of another one of these tuples (None: it is not known)."""

    rows: int | None
    formula: str
    of: Tuples | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SynopsisTable:
    """Partial matches over `members`: their key, kept timestamps, frontier, and how they arise.

    `stored`: kept from marker to marker (the last table is stored only as the set of results
    already written, for set semantics, or as the groups' minima or maxima).
    `sums`: the folds (their places in the normal form) whose sums go with the weight.
    `samples`: the classes of its key of which few values suffice (sets only).
    `matched`: a row is dropped when the one tuple has come that could join it (bags only).
    `latest`: of rows that are equal in all of the key but these classes, which say when they leave
    their windows, the latest one is kept: it serves every later partner that the others serve, and
    for longer (one member of a set; None: all are kept).
    """

    members: frozenset[int]
    keys: tuple[Key, ...]
    kept: tuple[KeptTimestamp, ...]
    frontier: tuple[Frontier, ...]
    steps: tuple[PlanStep, ...]
    stored: bool
    bound: Bound
    sums: tuple[int, ...] = ()
    samples: tuple[DistinctSample, ...] = ()
    matched: tuple[SoleMatch, ...] = ()
    latest: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class SynopsisPlan:
    """An executable plan for one disjunct: tables by increasing size; the last one is the answer.

    Raises:
        ValueError: the tables do not build on one another.
    """

    form: NormalForm
    tables: tuple[SynopsisTable, ...]

    def __post_init__(self) -> None:
        known: set[frozenset[int]] = set()
        for table in self.tables:
            for step in table.steps:
                if not set(step.past) <= known:
                    raise ValueError("a step uses a table that is built later")
            known.add(table.members)

    @property
    def bound(self) -> Bound:
        """The bound on all rows kept."""
        return total_bound(self.bounds)

    @property
    def bounds(self) -> list[Bound]:
        """The bounds on all that is kept: tables, and the values that are open."""
        return [
            *(t.bound for t in self.tables if t.stored),
            *(Bound(o.size, o.formula) for _, o in self.followed),
        ]

    @property
    def followed(self) -> tuple[tuple[int, OpenValues], ...]:
        """The equalities, by number, of which the open values are kept: all but those of which a
        row says that it is the last."""
        return tuple((n, o) for n, o in enumerate(self.form.open) if o.rule.ends is None)


def total_bound(bounds: Sequence[Bound]) -> Bound:
    """The sum of bounds; equal formulas are counted: `4 · (|road.street| = 55)`; those of what
    holds no row are left out."""
    if len(bounds) == 1:
        return bounds[0]
    rows: int | None = 0
    formulas: dict[str, int] = {}
    for bound in bounds:
        rows = None if rows is None or bound.rows is None else rows + bound.rows
        if bound.rows != 0:  # what holds no row is not told of
            formulas[bound.formula] = formulas.get(bound.formula, 0) + 1
    parts = [
        f if n == 1 else f"{n} · {f}" if " · " in f else f"{n} · ({f})" for f, n in formulas.items()
    ]
    if len(parts) > 1:
        parts = [p if " · " in p else f"({p})" for p in parts]
    return Bound(rows, " + ".join(parts) or "0")


def share_tuples(bounds: Sequence[Bound]) -> list[Bound]:
    """The bounds of tables of several disjuncts, with one in the place of those on rows of tuples
    of which none is in two of them, where these tuples are less than the sum."""
    groups: list[list[tuple[int, Tuples]]] = []
    for place, bound in enumerate(bounds):
        of = bound.of
        if of is None:
            continue
        apart = (g for g in groups if all(of.excludes(other) for _, other in g))
        group = next(apart, None)
        if group is None:
            groups.append([(place, of)])
        else:
            group.append((place, of))
    shared: dict[int, Bound | None] = {}
    for group in groups:
        each = [bounds[place].rows for place, _ in group]
        most = max((of for _, of in group), key=lambda of: of.most)
        if len(group) > 1 and (None in each or most.most < sum(n for n in each if n is not None)):
            first, *others = (place for place, _ in group)
            shared |= {first: Bound(most.most, most.formula), **dict.fromkeys(others)}
    left = [shared.get(place, bound) for place, bound in enumerate(bounds)]
    return [bound for bound in left if bound is not None]
