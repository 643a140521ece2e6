"""The matches over a witness and one suffix, with the optional tuples that each uses."""

from collections.abc import Iterator
from typing import Any

from ontoweir.checker.witness.evaluate_naively import Tuple, list_matches
from ontoweir.checker.witness.witness import Witness, WitnessRow, content_of
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion


def list_ways(
    union: SpjUnion, catalog: Catalog, witness: Witness, suffix: tuple[WitnessRow, ...]
) -> Iterator[tuple[tuple[Any, ...], frozenset[int], bool]]:
    """Every match over all tuples and a suffix: its answer, the optional tuples that it uses (by
    number), and whether it uses the suffix."""
    size = witness.size
    instance: dict[str, list[Tuple]] = {}
    place: dict[int, int] = {}  # optional tuples first, then the suffix
    for number, given in enumerate([*witness.optional, *suffix, *witness.fixed]):
        content = content_of(catalog, given)
        place[id(content)] = number
        instance.setdefault(given.table, []).append(content)
    for answer, used in list_matches(union, instance):
        numbers = {place[id(r)] for r in used}
        late = any(size <= n < size + len(suffix) for n in numbers)
        yield answer, frozenset(n for n in numbers if n < size), late
