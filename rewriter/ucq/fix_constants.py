"""Put an IRI in the place of a variable that a filter makes equal to it."""

from dataclasses import replace

from ontoweir.rewriter.model.query import ConjunctiveQuery, Iri, Term, ValueFilter, Variable
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.model.substitute_terms import substitute_terms
from ontoweir.rewriter.ucq.find_tree_witnesses import free_variables


def fix_constants(query: ConjunctiveQuery) -> ConjunctiveQuery:
    """The same query with `FILTER(?x = <iri>)` written as the IRI itself.

    Containment compares filters by their text, atoms and heads by what they mean. A variable in
    another filter stays.
    """
    for f in query.filters:
        if not isinstance(f, ValueFilter) or f.op is not Op.EQ or not isinstance(f.right, Iri):
            continue
        filters = tuple(other for other in query.filters if other is not f)
        if f.left in free_variables(replace(query, head=(), filters=filters)):
            continue
        mapping: dict[Term, Term] = {f.left: f.right}
        fixed: tuple[tuple[Variable, Iri], ...] = ((f.left, f.right),) * (f.left in query.head)
        made = replace(
            query,
            atoms=tuple(substitute_terms(atom, mapping) for atom in query.atoms),
            filters=filters,
            constants=(*query.constants, *fixed),
        )
        return fix_constants(made)
    return query
