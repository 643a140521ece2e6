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
            _hint(verdict, one, ended),
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


def _hint(verdict: Verdict, kept: KeptVersions, ended: bool) -> str:
    """What may be declared of keys without an end, or asked in their place. Of times there are
    always new ones, whatever is declared."""
    moments = {column.name for _, column in verdict.union.buckets}
    times = [place for place in kept.unbounded if place.partition(".")[2] in moments]
    traced = [
        c
        for place in kept.unbounded
        if place not in times
        for c in trace_column(verdict.union, place)
    ]
    hints = [f"leave {' and '.join(times)} out, if only shown or aggregated"] if times else []
    if traced:
        hints.append(
            "declare min and max, enum, or a reference to a static relation for "
            f"{' and '.join(dict.fromkeys(traced))}, or for what it is joined with"
            + ("; or leave it out, where it is only shown or aggregated" if ended else "")
        )
    told = f"{', and ' if ended else '; or '}".join(hints)
    if not ended:
        return told
    return (
        f"{told}; or limit the time between them: what is not ended within it is final; or ask for "
        "what began in a window, by NOW()"
    )
