"""The matches over a witness and one suffix, with the optional tuples that each uses."""

from collections import Counter
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import Tuple, count_matches
from ontoweir.checker.witness.witness import Witness, WitnessRow, content_of
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion

Way: TypeAlias = tuple[tuple[Any, ...], frozenset[int], bool]
"""An answer, the optional tuples that a match uses (by number), and whether it uses the suffix."""


def trace_matches(
    union: SpjUnion, catalog: Catalog, witness: Witness, suffix: tuple[WitnessRow, ...]
) -> Counter[Way]:
    """The matches over all tuples and a suffix, counted."""
    size = witness.size
    instance: dict[str, list[Tuple]] = {}
    marks: dict[int, int] = {}  # a bit for each optional tuple, and one for the suffix
    for number, given in enumerate([*witness.optional, *suffix, *witness.fixed]):
        content = content_of(catalog, given)
        late = size <= number < size + len(suffix)
        marks[id(content)] = 1 << min(number, size) if number < size or late else 0
        instance.setdefault(given.table, []).append(content)
    found: Counter[Way] = Counter()
    counted = count_matches(union, instance, lambda row: marks[id(row)])
    for (answer, marked), count in counted.items():
        used = frozenset(n for n in range(size) if marked >> n & 1)
        found[answer, used, bool(marked >> size & 1)] = count
    return found
