"""Grouping and aggregates over the matches of a query ([A] section 8.2), and which rows hold."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import ClosingRule
from ontoweir.mappings.model.expression import Expression, fields_of
from ontoweir.mappings.model.sliding_buckets import SlidingBuckets

_Query = TypeVar("_Query")


class AggregateFunction(StrEnum):
    """The aggregates. QUANTILE is the least value that a fraction of all values is not greater than
    (PERCENTILE_DISC), PERCENTILE lies between values (PERCENTILE_CONT); others are as in SQL."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"
    COUNT_DISTINCT = "COUNT DISTINCT"
    SUM_DISTINCT = "SUM DISTINCT"
    AVG_DISTINCT = "AVG DISTINCT"
    LIST = "STRING_AGG"
    LIST_DISTINCT = "STRING_AGG DISTINCT"
    MEDIAN = "MEDIAN"
    QUANTILE = "QUANTILE"
    PERCENTILE = "PERCENTILE"
    VAR_POP = "VAR_POP"
    VAR_SAMP = "VAR_SAMP"
    COVAR_POP = "COVAR_POP"
    REGR_SXX = "REGR_SXX"

    @property
    def duplicate_sensitive(self) -> bool:
        """Whether f(X) may differ from f of the distinct values of X."""
        return self not in (
            AggregateFunction.MIN,
            AggregateFunction.MAX,
            AggregateFunction.COUNT_DISTINCT,
        )

    @property
    def chooses(self) -> bool:
        """Whether it is one of the values: the least, or the greatest."""
        return self in (AggregateFunction.MIN, AggregateFunction.MAX)

    @property
    def holistic(self) -> bool:
        """Whether no bounded summary of the values seen suffices, even of one group."""
        return self is AggregateFunction.COUNT_DISTINCT or self.ranks

    @property
    def ranks(self) -> bool:
        """Whether it is found among all values: how often each occurs is kept."""
        found = self is AggregateFunction.MEDIAN or self.takes_fraction
        return found or self.adds_distinct or self.lists

    @property
    def lists(self) -> bool:
        """Whether it is all values one after another, in one text."""
        return self in (AggregateFunction.LIST, AggregateFunction.LIST_DISTINCT)

    @property
    def adds_distinct(self) -> bool:
        """Whether it is made of the sum and the number of distinct values."""
        return self in (AggregateFunction.SUM_DISTINCT, AggregateFunction.AVG_DISTINCT)

    @property
    def adds(self) -> bool:
        """Whether it is made of the number of values and their sum, or that of their squares."""
        return self in (AggregateFunction.SUM, AggregateFunction.AVG) or self.varies

    @property
    def varies(self) -> bool:
        """Whether it is a variance or covariance: of doubles, as others' are expressions over exact
        sums."""
        return self in (
            AggregateFunction.VAR_POP,
            AggregateFunction.VAR_SAMP,
            AggregateFunction.COVAR_POP,
            AggregateFunction.REGR_SXX,
        )

    @property
    def takes_fraction(self) -> bool:
        """Whether it is asked for with a fraction of the values."""
        return self in (AggregateFunction.QUANTILE, AggregateFunction.PERCENTILE)


@dataclass(frozen=True, slots=True)
class Listing:
    """How a list is written: what is between values, whether the greatest is first (else the
    least), and how many characters at the beginning of each are for their order alone."""

    separator: str
    falls: bool = False
    unseen: int = 0

    def write(self, counted: Counter[str], *, once: bool) -> str:
        """A list of texts, each as often as it is counted, or `once`."""
        ordered = sorted(counted if once else counted.elements(), reverse=self.falls)
        return self.separator.join(text[self.unseen :] for text in ordered)


AggregateKey: TypeAlias = tuple[
    AggregateFunction, str | None, Fraction | None, str | None, Listing | None
]
"""A function, its argument, of QUANTILE and PERCENTILE the fraction, the second argument, and of
lists how they are written."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(argument)` as the column `name`; `argument` is a variable of the matches, None
    for COUNT of all matches. It is of the matches where the argument has a value: in SQL there
    may be others. `fraction`: of QUANTILE and PERCENTILE, from 0 to 1. `second`: of the matches
    alone where this argument has a value, too: of COVAR_POP it is the other one; of COUNT, AVG and
    REGR_SXX (n · VAR_POP) only that is asked of it. `listing`: of lists."""

    name: str
    function: AggregateFunction
    argument: str | None
    source: Source | None = None
    fraction: Fraction | None = None
    second: str | None = None
    listing: Listing | None = None

    @property
    def key(self) -> AggregateKey:
        """What it computes, whatever its name."""
        return self.function, self.argument, self.fraction, self.second, self.listing

    @property
    def arguments(self) -> tuple[str, ...]:
        """Its one argument, or both, or none."""
        return tuple(a for a in (self.argument, self.second) if a is not None)

    def __str__(self) -> str:
        if self.fraction is not None:
            return f"{self.function}(?{self.argument}, {float(self.fraction):g})"
        if self.function.name.endswith("_DISTINCT"):
            return f"{self.function.split()[0]}(DISTINCT ?{self.argument})"
        inner = ", ".join(f"?{argument}" for argument in self.arguments) or "*"
        return f"{self.function}({inner})"


@dataclass(frozen=True, slots=True)
class Panes:
    """The group's variable with a pane of buckets that overlap: in a group's row it is where the
    bucket begins, and `ends` (None: no column) where it ends."""

    variable: str
    buckets: SlidingBuckets
    ends: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregation:
    """GROUP BY `group`, with the aggregates, over the matches of a query.

    A group's row has its variables and its aggregates; `columns` are the result's columns in order:
    the group's variables, the names of aggregates (those that only `computed` and `having` use are
    not shown), and what is `computed` of the row. `having`: a condition on the row (None: none);
    rows of which it is not true are no results. `session_us`: a group is a run of rows,
    each at most so long (µs) after the one before, and then begins anew (None: it does not);
    `session_behind_us`: so long before a row is there its time is, if that is not among what is
    shown. `around`: what is told are groups of these rows while they hold, each counted
    `multiplicity` times (None: the rows are told). `one_each`: of what is summed of one row of a
    window, at each time all but one 1 cancel out, as of joins with the latest row of a key.
    `numbered`: what is told are those of these rows, or of the groups around them, with the first
    numbers (None: all are).
    The matches are those of the characteristic query ([A] Th. 8.4): its variables are the
    group variables and the arguments.
    """

    group: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    columns: tuple[str, ...]
    computed: tuple[tuple[str, Expression], ...] = ()
    having: Expression | None = None
    having_source: Source | None = None
    panes: Panes | None = None
    session_us: int | None = None
    session_behind_us: int = 0
    around: "Aggregation | None" = None
    one_each: bool = False
    numbered: "NumberedGroups | None" = None

    @staticmethod
    def shape_of(aggregation: "Aggregation | None") -> object:
        """What an aggregation is, wherever it is written, whatever is not shown is called."""
        if aggregation is None:
            return None
        shown = aggregation.columns
        around = Aggregation.shape_of(aggregation.around)
        named = [(a.name in shown and a.name, *a.key) for a in aggregation.aggregates]
        made = aggregation.group, named if around is None else (named, around)
        return made if aggregation.numbered is None else (made, aggregation.numbered)

    @staticmethod
    def session_of(made: "Aggregation | None") -> tuple[int | None, int]:
        """The gap of the sessions that groups are (None: they are none), and how long after their
        times rows are there, in µs."""
        return (None, 0) if made is None else (made.session_us, made.session_behind_us)

    @property
    def told(self) -> "Aggregation":
        """What is told: groups of its rows, or its own."""
        return self if self.around is None else self.around

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of what is told."""
        return self.told.columns if self.numbered is None else self.numbered.columns

    @property
    def shows_rows(self) -> bool:
        """Whether the results are the groups' rows as they are."""
        return not self.computed and self.having is None

    @property
    def row(self) -> tuple[str, ...]:
        """The columns that tell the groups' rows apart: its variables, and where a bucket ends that
        overlaps others."""
        ends = self.panes.ends if self.panes is not None else None
        return self.group if ends is None else (*self.group, ends)

    @property
    def read(self) -> frozenset[str]:
        """The group's variables and the aggregates that expressions read."""
        expressions = [made for _, made in self.computed]
        if self.having is not None:
            expressions.append(self.having)
        return frozenset(name for made in expressions for name in fields_of(made))

    @property
    def duplicate_sensitive(self) -> bool:
        """Whether multiplicities matter: then matches are counted (bag projection π̇), else distinct
        ones suffice (π)."""
        return any(a.function.duplicate_sensitive for a in self.aggregates)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the characteristic query: the group's, then the arguments."""
        arguments = (argument for a in self.aggregates for argument in a.arguments)
        return tuple(dict.fromkeys((*self.group, *arguments)))


@dataclass(frozen=True, slots=True)
class ClosedValues:
    """A rule of `stream` by which groups are final, and forgotten: the occurrence `alias` has the
    rule's columns; `kept`: the outputs whose values are kept of a group until then; `keys`: of
    sessions, the outputs that tell them apart, also those of static relations."""

    stream: str
    rule: ClosingRule
    alias: str
    kept: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def is_asked(closed: ClosedValues) -> bool:
    """Whether the query says when values are closed, so that no row breaks the rule."""
    return closed.rule.session or closed.rule.implied


class Numbering(StrEnum):
    """How rows in an order are numbered: each with a number of its own; equal ones with one, which
    is one more than the rows before; or with one more than the numbers before."""

    ROWS = "ROW_NUMBER"
    RANKS = "RANK"
    DENSE = "DENSE_RANK"


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The rows of a key with the first numbers, of all that came.

    `limit`: the greatest number; `order`: the variables in whose order they are numbered, each with
    whether the greatest value comes first, and whether NULL does; `single`: the key of
    the stream by which two rows of a key are never equal in it (None: there is none); `number`: the
    variable that shows the number, which the rows of a query have as 1 (None: it is not needed).
    `least`: rows with lesser numbers are not told; nor are those where the variable `told` is not 1
    (None: all are).
    """

    numbering: Numbering
    limit: int
    order: tuple[tuple[str, bool, bool], ...]
    single: tuple[str, ...] | None = None
    number: str | None = None
    least: int = 1
    told: str | None = None


@dataclass(frozen=True, slots=True)
class NumberedGroups:
    """Which rows of groups are told: of each `key` those with the `first` numbers. `columns`: what
    they show, in order, the number among it."""

    key: tuple[str, ...]
    first: FirstRows
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Which rows of a query hold. Rows of one key belong together.

    `key`: the variables that tell keys apart. `ender`: the variable that is 1 for rows that are no
    answers, but end those of their key with an earlier timestamp, and 0 for answers (None: every
    answer ends the earlier ones). `inclusive`: they end those of their own timestamp too.
    `replaced`: wherever there is an answer, there is a row that ends the earlier ones; `nulls`: of
    those without a value in the key too, which are one key. `hidden`: the variables that are not
    shown. `distinct`: what is shown holds once, however many rows say so; the rows themselves are
    counted all the same. `groups`: what is shown are groups of the rows that hold. `first`: those
    with the first numbers of their key hold, until others come before them (None: the latest).
    """

    key: tuple[str, ...]
    ender: str | None = None
    inclusive: bool = False
    replaced: bool = True
    nulls: bool = False
    hidden: tuple[str, ...] = ()
    distinct: bool = False
    groups: Aggregation | None = None
    first: FirstRows | None = None
    ever: bool = False
    """Rows that end others also end those of their key that come later: there is none before."""
    waited: bool = False
    """It is asked for rows some time after their own: from when they have waited they hold."""


@dataclass(frozen=True, slots=True)
class Ending(Generic[_Query]):
    """Rows that end those of their key that have begun: `key`, a variable of the begun rows and one
    of `union`, which are equal. `own`: rows with its own timestamp are ended, too; `at_once`: those
    that come at its own timestamp do not meet them any more."""

    union: _Query
    key: tuple[tuple[str, str], ...]
    own: bool
    at_once: bool


@dataclass(frozen=True, slots=True)
class Between(Generic[_Query]):
    """Rows (`meets`) beside each row of `begins` before them with an equal `key`, unless one of
    `ends` came between. `own`: those of their own timestamp are before them, too; `once`: how many
    of equal ones there are does not matter."""

    meets: _Query
    begins: _Query
    ends: tuple[Ending[_Query], ...]
    key: tuple[str, ...]
    own: bool
    once: bool

    @property
    def queries(self) -> tuple[_Query, ...]:
        """All whose rows it is made of."""
        return (self.meets, self.begins, *(ending.union for ending in self.ends))
