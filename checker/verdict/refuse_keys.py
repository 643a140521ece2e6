"""The verdict where the latest rows of any number of keys would have to be kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ontoweir.checker.plans.bound_versions import KeptVersions
from ontoweir.checker.verdict.trace_column import trace_column
from ontoweir.checker.verdict.verdict import Bounded, Failing, Tier, Verdict
from ontoweir.diagnostics import CODES, Diagnostic
from ontoweir.rewriter.model.spj import SpjQuery


def refuse_keys(
    verdict: Verdict, found: Sequence[KeptVersions], *, kept: str, ended: bool = False
) -> Verdict:
    """The verdict, undecided where some key has no end; `kept`: what is kept by the key, in words;
    `ended`: rows are kept until others end them, by all that they show."""
    endless = [one for one in found if one.bound is None]
    if not endless:
        return verdict
    because = {
        one: Diagnostic(
            CODES["versions"],
            f"{' and '.join(one.unbounded)}, by which {kept}, may have any number of values",
            "declare min and max, enum, or a reference to a static relation for "
            f"{_name_declared(verdict, one)}, or for what it is joined with{_else(ended)}",
            verdict.union.source,
        )
        for one in dict.fromkeys(endless)
    }
    own = _share_out(because, [d.query for d in verdict.disjuncts if isinstance(d, Bounded)])
    disjuncts = tuple(
        Failing(d.query, Tier.UNDECIDED, d.criteria, own[d.query]) if isinstance(d, Bounded) else d
        for d in verdict.disjuncts
    )
    worst = max((verdict.tier, Tier.UNDECIDED), key=lambda tier: tier.rank)
    return replace(verdict, disjuncts=disjuncts, tier=worst, bound=None)


def _share_out(
    because: Mapping[KeptVersions, Diagnostic], disjuncts: Sequence[SpjQuery]
) -> dict[SpjQuery, tuple[Diagnostic, ...]]:
    """For each disjunct the reasons that name columns of its own rows, so that many streams have
    not each the reasons of all; what names none of them is said of those without one."""
    by_alias: dict[str, list[KeptVersions]] = {}
    for one in because:
        for alias in dict.fromkeys(name.partition(".")[0] for name in one.unbounded):
            by_alias.setdefault(alias, []).append(one)
    own: dict[SpjQuery, tuple[Diagnostic, ...]] = {}
    said: set[KeptVersions] = set()
    for d in disjuncts:
        mine = dict.fromkeys(k for o in d.occurrences for k in by_alias.get(o.alias, ()))
        said.update(mine)
        own[d] = tuple(because[k] for k in mine)
    rest = tuple(of for k, of in because.items() if k not in said)
    bare = [d for d, of in own.items() if not of]
    for d in bare:
        own[d] = rest or tuple(because.values())[:1]
    if rest and not bare and disjuncts:
        own[disjuncts[0]] += rest
    return own


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
