"""Whether different terms of a variable may be shown by one text."""

from itertools import combinations, product

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import term_kind
from ontoweir.rewriter.model.spj import NullOutput, SpjUnion
from ontoweir.rewriter.tmappings.may_meet import TextAtoms, list_atoms_of, may_meet


def find_shared_texts(name: str, union: SpjUnion, catalog: Catalog) -> tuple[str, str] | None:
    """Two kinds of terms (IRI, or a literal's datatype or language) that a variable's values have,
    of which a text can be that of both."""
    texts: dict[str, set[TextAtoms]] = {}
    for query in union.disjuncts:
        output = next(o for n, o in query.outputs if n == name)
        if not isinstance(output, NullOutput):
            atoms = list_atoms_of(output, Types(catalog, query.occurrences))
            texts.setdefault(term_kind(output), set()).add(atoms)
    for (kind, some), (other_kind, others) in combinations(texts.items(), 2):
        if any(may_meet(a, b) for a, b in product(some, others)):
            return kind, other_kind
    return None


def refuse_shared_texts(union: SpjUnion, catalog: Catalog) -> None:
    """Nothing, if changes can say of each answer of a set when it holds.

    Raises:
        QueryError: two of its answers may be shown by one text: whether one ends, or the other,
            changes could not tell.
    """
    if not union.distinct or union.aggregation is not None:
        return
    for name in union.variables:
        if name in (*union.ends, *union.begins):
            continue
        kinds = find_shared_texts(name, union, catalog)
        if kinds is not None:
            raise QueryError(
                f"SELECT DISTINCT ?{name}, as changes: its values are {kinds[0]} and {kinds[1]}",
                why="terms that differ in datatype, language or kind are different answers, even "
                "where their texts are the same, and a change shows the text alone",
                fix="leave DISTINCT out, write one query for each, or map the property to terms of "
                "one kind",
                source=union.source,
            )
