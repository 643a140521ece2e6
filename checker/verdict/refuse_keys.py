"""The verdict where the latest rows of any number of keys would have to be kept."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.plans.bound_versions import KeptVersions
from ontoweir.checker.verdict.trace_column import trace_column
from ontoweir.checker.verdict.verdict import Bounded, Failing, Tier, Verdict
from ontoweir.diagnostics import CODES, Diagnostic


def refuse_keys(
    verdict: Verdict, found: Sequence[KeptVersions], *, kept: str, ended: bool = False
) -> Verdict:
    """The verdict, undecided where some key has no end; `kept`: what is kept by the key, in words;
    `ended`: rows are kept until others end them, by all that they show."""
    endless = [one for one in found if one.bound is None]
    if not endless:
        return verdict
    because = tuple(
        Diagnostic(
            CODES["versions"],
            f"{' and '.join(one.unbounded)}, by which {kept}, may have any number of values",
            "declare min and max, enum, or a reference to a static relation for "
            f"{_name_declared(verdict, one)}, or for what it is joined with{_else(ended)}",
            verdict.union.source,
        )
        for one in dict.fromkeys(endless)
    )
    disjuncts = tuple(
        Failing(d.query, Tier.UNDECIDED, d.criteria, because) if isinstance(d, Bounded) else d
        for d in verdict.disjuncts
    )
    worst = max((verdict.tier, Tier.UNDECIDED), key=lambda tier: tier.rank)
    return replace(verdict, disjuncts=disjuncts, tier=worst, bound=None)


def _else(ended: bool) -> str:
    if not ended:
        return ""
    return (
        "; or leave it out, where it is only shown or aggregated; or limit the time between them: "
        "what is not ended within it is final"
    )


def _name_declared(verdict: Verdict, kept: KeptVersions) -> str:
    """The columns that may be declared, of which keys without an end are."""
    traced = (c for place in kept.unbounded for c in trace_column(verdict.union, place))
    return " and ".join(dict.fromkeys(traced))
