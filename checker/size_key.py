"""How many values the key of a table, or a value class, can have."""

from dataclasses import dataclass

from ontoweir.checker.normal_form import NormalForm
from ontoweir.checker.plan import Key


@dataclass(frozen=True, slots=True)
class Factor:
    """How many values there are (None: unknown), and a formula for it."""

    size: int | None
    formula: str


def size_key(form: NormalForm, key: Key) -> Factor:
    """How many values a key can have: clipped, the ends and what lies strictly between them."""
    group = form.classes[key.value]
    domain, grain = group.domain, group.grain
    low, high = key.low, key.high
    if low is None and high is None:
        return Factor(domain.size, domain.formula)
    if domain.low is not None:
        low = domain.low if low is None else max(low, domain.low)
    if domain.high is not None:
        high = domain.high if high is None else min(high, domain.high)
    if low is not None and high is not None and grain:
        between = int(-(-high // grain)) - int(low // grain) - 1
        size = 1 if high <= low else max(between, 0) + 2
        if domain.size is None or size < domain.size:
            return Factor(size, f"|{group.name}, clipped| = {size}")
    return Factor(domain.size, domain.formula)
