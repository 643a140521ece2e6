"""When do two assertions of a predicate make one triple?"""

from dataclasses import dataclass

from ontoweir.errors import QueryError
from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import Attribute, Condition, SpjQuery
from ontoweir.rewriter.tmappings.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs


@dataclass(frozen=True, slots=True)
class EqualTriples:
    """The pairs of rows that make one triple, at any two times.

    `query`: these pairs, or more where not all is told (`told`) by equations of columns; `times`:
    the timestamps of the two, None of static ones; `same_steps`: both count in one unit.
    """

    query: SpjQuery
    told: bool
    times: tuple[Attribute | None, Attribute | None]
    same_steps: bool


def equate_triples(
    first: MappingAssertion, second: MappingAssertion, catalog: Catalog
) -> EqualTriples | None:
    """The rows of two assertions of one predicate that make one triple; None: there are none."""
    one = instantiate_assertion(first, 1, catalog)
    other = instantiate_assertion(second, 1 + len(one.occurrences), catalog)
    occurrences = (*one.occurrences, *other.occurrences)
    types = Types(catalog, occurrences)
    conditions: list[Condition] = [*one.conditions, *other.conditions]
    told = True
    for left, right in ((one.subject, other.subject), (one.object, other.object)):
        if left is None or right is None:
            continue
        if not (is_injective(left, types) and is_injective(right, types)):
            told = False
            continue
        try:
            equations = unify_outputs(left, right, types, None)
        except UnitsDiffer:
            raise
        except QueryError:  # they may be equal, but no equations of columns say when
            told = False
            continue
        if equations is None:
            return None
        conditions.extend(equations)
    steps = {types.step_of(time) for time in (one.time, other.time) if time is not None}
    query = SpjQuery(occurrences, tuple(conditions), ())
    return EqualTriples(query, told, (one.time, other.time), len(steps) < 2)
