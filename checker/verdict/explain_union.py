"""For a union: which disjunct, hence which mapping, is to blame."""

from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.diagnostics import Label, Reason
from ontoweir.rewriter.model.spj import NullOutput, Provenance, SpjQuery


def explain_union(verdict: Verdict) -> Reason | None:
    """What to blame for a query that is not bounded; None where there is but one disjunct, or the
    others are the rows of the same tables in which a value is NULL.

    The others are bounded, so without the disjuncts to blame the query would be bounded. A mapping
    is to blame if only they use it.
    """
    failing = [n for n, d in enumerate(verdict.disjuncts, 1) if isinstance(d, Failing)]
    total = len(verdict.disjuncts)
    if not failing or total < 2:
        return None
    if len(failing) == total:
        return Reason(f"each of the {total} disjuncts fails by itself, whatever the mapping")
    numbers = ", ".join(map(str, failing))
    bad = [verdict.disjuncts[n - 1].query for n in failing]
    good = [d.query for d in verdict.disjuncts if not isinstance(d, Failing)]
    if all(any(_is_without_value(g, b) for b in bad) for g in good):
        return None
    used = {name for q in good for _, p in q.provenance for name in p.names}
    only = {m: p for q in bad for m, p in _mappings(q).items() if used.isdisjoint(p.names)}
    what = "disjunct" if len(failing) == 1 else "disjuncts"
    return Reason(
        f"{len(failing)} of {total} disjuncts to blame: {what} {numbers}; without "
        f"{'it' if len(failing) == 1 else 'them'} the query would be bounded",
        because=tuple(_blame(mapping, origin) for mapping, origin in only.items()),
    )


def _is_without_value(query: SpjQuery, other: SpjQuery) -> bool:
    """Whether its answers have NULL, and are of the tables of another disjunct, which nobody wrote
    as a part of a union."""
    has_null = any(isinstance(made, NullOutput) for _, made in query.outputs)
    return has_null and query.occurrences == other.occurrences


def _mappings(query: SpjQuery) -> dict[str, Provenance]:
    return {p.shown: p for _, p in reversed(query.provenance)}


def _blame(mapping: str, origin: Provenance) -> Reason:
    label = None
    if origin.mapping_source is not None:
        label = Label("mapping", origin.mapping_source, "only they use it", mapping)
    return Reason(f"only they use the mapping {mapping}", label)
