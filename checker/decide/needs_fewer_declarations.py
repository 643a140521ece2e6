"""Whether a verdict is better than another because it rests on less."""

from ontoweir.checker.verdict.verdict import Verdict


def needs_fewer_declarations(other: Verdict, verdict: Verdict) -> bool:
    """Whether a bounded verdict needs fewer declarations, and no more rows to speak of."""
    if other.plans is None or not set(other.conditions) < set(verdict.conditions):
        return False
    rows, least = (v.bound.rows if v.bound else None for v in (other, verdict))
    return rows is not None and (least is None or rows <= 10 * max(least, 1))
