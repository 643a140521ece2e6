"""Verdicts: closed unions; a bounded one carries the plan that proves it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.checker.model.criterion import CriterionResult
from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.plan import Bound, SynopsisPlan
from ontoweir.checker.partition.partition import Partition
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.checker.verdict.show_verdict import show_verdict, show_verdict_html
from ontoweir.diagnostics import Diagnostic
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion

if TYPE_CHECKING:
    from ontoweir.checker.witness.witness import Witness


class Tier(StrEnum):
    """Verdict tiers, cheapest first (theory §7)."""

    UNSATISFIABLE = "unsatisfiable"
    STATELESS = "stateless"
    TREE_BOUNDED = "tree-bounded"
    JOINTLY_BOUNDED = "jointly-bounded"
    WINDOW_BOUNDED = "window-bounded"
    CONDITIONALLY_BOUNDED = "conditionally-bounded"
    UNDECIDED = "undecided"
    UNBOUNDED = "unbounded"

    @property
    def rank(self) -> int:
        """Its place in the order, 0 the cheapest."""
        return list(Tier).index(self)


def name_tier(tier: Tier) -> str:
    """The verdict of a tier: "unsatisfiable", "bounded", "conditionally-bounded", "undecided" or
    "unbounded"."""
    match tier:
        case Tier.UNSATISFIABLE | Tier.CONDITIONALLY_BOUNDED | Tier.UNDECIDED | Tier.UNBOUNDED:
            return str(tier)
        case _:
            return "bounded"


@dataclass(frozen=True, slots=True)
class Criteria:
    """What each criterion says of a disjunct, by name. `published_set` is [S] Th. 2, `grouped`
    is [A] Th. 8.5 or 8.6, of aggregates."""

    arasu: CriterionResult
    tree: CriterionResult
    published_set: CriterionResult | None
    lag: CriterionResult
    grouped: CriterionResult | None = None

    def decided(self) -> dict[str, CriterionResult]:
        """Those that say something of this kind of query, by key, in the order of CRITERIA."""
        said = ((key, read(self)) for key, read in CRITERIA)
        return {key: criterion for key, criterion in said if criterion is not None}


CRITERIA: tuple[tuple[str, Callable[[Criteria], CriterionResult | None]], ...] = (
    ("arasu", lambda c: c.arasu),  # [A] Th. 5.6, 5.10
    ("tree", lambda c: c.tree),  # [S] Th. 1
    ("set", lambda c: c.published_set),  # [S] Th. 2
    ("aggregates", lambda c: c.grouped),  # [A] Th. 8.5, 8.6
    ("lag", lambda c: c.lag),  # theory §7: the one that verdicts rest on
)
"""Every criterion, as it is described, rendered and tested: its key in JSON, and what it says of a
disjunct (None: nothing, of this kind of query)."""


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """No data satisfies the selection: the answer is empty for ever."""

    query: SpjQuery
    tier: Tier = Tier.UNSATISFIABLE


@dataclass(frozen=True, slots=True)
class Bounded:
    """Constant memory suffices: the plan is the proof. `conditions`: what it rests on."""

    query: SpjQuery
    tier: Tier
    criteria: Criteria
    plan: SynopsisPlan
    conditions: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Failing:
    """No plan is known, because of the diagnostics."""

    query: SpjQuery
    tier: Tier
    criteria: Criteria
    because: tuple[Diagnostic, ...]


DisjunctVerdict: TypeAlias = Unsatisfiable | Bounded | Failing
"""The verdict on one SPJ query of a union."""


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """The verdict on a part of an aggregate query: one for each disjunct of its union."""

    part: AggregatePart
    disjuncts: tuple[DisjunctVerdict, ...]

    @property
    def plans(self) -> tuple[SynopsisPlan, ...]:
        """One plan per satisfiable disjunct, where the part is bounded."""
        return tuple(d.plan for d in self.disjuncts if isinstance(d, Bounded))


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The verdict on a query (a union): bounded iff every disjunct is, unbounded only with a
    witness for the whole union, otherwise undecided.

    `parts`: of an aggregate query, whose `disjuncts` are then, for each disjunct, the verdict on
    the part that fares worst.
    """

    union: SpjUnion
    disjuncts: tuple[DisjunctVerdict, ...]
    tier: Tier
    bound: Bound | None
    conditions: tuple[Declaration, ...]
    declarations: tuple[Declaration, ...]
    witness: "Witness | None"
    parts: tuple[PartVerdict, ...] = ()
    blocks: tuple["Verdict", ...] = ()
    """On the queries whose answers it reads, in the order of the union's blocks, and of the
    queries of each."""
    waiting: tuple[Bound, ...] = ()
    """What of the bound are rows of streams that wait because earlier ones may still come."""
    remembered: tuple[Bound, ...] = ()
    """What of the bound are closed values, remembered to find rows that break a rule."""
    partition: Partition | None = None
    """By which columns rows can be divided (None: there is no plan)."""

    def __repr__(self) -> str:
        return show_verdict(self)

    def _repr_html_(self) -> str:
        return show_verdict_html(self)

    @property
    def name(self) -> str:
        """ "unsatisfiable", "bounded", "conditionally-bounded", "undecided" or "unbounded"."""
        return name_tier(self.tier)

    @property
    def closes_values(self) -> bool:
        """Whether its groups, or its answers, are forgotten when a rule closes their values."""
        return any(part.part.watches for part in self.parts)

    @property
    def plans(self) -> tuple[SynopsisPlan, ...] | None:
        """One plan per satisfiable disjunct (part after part, for aggregates), if the query is
        bounded; else None."""
        if self.tier in (Tier.UNDECIDED, Tier.UNBOUNDED):
            return None
        if self.parts:
            return tuple(plan for part in self.parts for plan in part.plans)
        return tuple(d.plan for d in self.disjuncts if isinstance(d, Bounded))


def list_blocks(verdict: Verdict) -> tuple[Verdict, ...]:
    """The verdicts on the queries whose answers a query reads, and on those that these read."""
    return tuple(v for inner in verdict.blocks for v in (inner, *list_blocks(inner)))


def tier_within(verdict: Verdict, disjunct: DisjunctVerdict) -> Tier:
    """The tier of a disjunct, as part of its query's verdict: where the query is unbounded and all
    others are bounded, this one is what makes it so."""
    failing = [d for d in verdict.disjuncts if isinstance(d, Failing)]
    if verdict.tier is Tier.UNBOUNDED and failing == [disjunct]:
        return Tier.UNBOUNDED
    return disjunct.tier
