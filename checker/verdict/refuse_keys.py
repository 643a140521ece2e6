"""The verdict where the latest rows of any number of keys would have to be kept."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.plans.bound_versions import KeptVersions
from ontoweir.checker.verdict.verdict import Bounded, Failing, Tier, Verdict
from ontoweir.diagnostics import CODES, Diagnostic


def refuse_keys(verdict: Verdict, kept: Sequence[KeptVersions]) -> Verdict:
    """The verdict, undecided where some key has no end."""
    endless = [one for one in kept if one.bound is None]
    if not endless:
        return verdict
    because = tuple(
        Diagnostic(
            CODES["versions"],
            f"{' and '.join(one.unbounded)}, by which the latest rows are kept, may have any "
            "number of values",
            "declare min and max, enum, or a reference to a static relation for "
            f"{' and '.join(one.unbounded)}, or for what it is joined with",
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
