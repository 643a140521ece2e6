"""Removes static relations that are joined only because a foreign key says they match."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, Reference, Relation
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.model.spj import Attribute, Occurrence, SpjQuery, output_attributes
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities


def remove_reference_joins(query: SpjQuery, catalog: Catalog) -> SpjQuery:
    """Drops relation r where t.column = r.to is a declared reference of stream t, `to` is a key of
    r, and nothing else of r is used. (Other references are not compared with the data.)

    Keeps multiplicities: the reference gives every row of t with non-NULL columns at least one
    partner in r, the key at most one. The columns stay required to be not NULL.
    """
    while (reference := _find_reference(query, catalog)) is not None:
        query = propagate_equalities(_drop(query, *reference), catalog)
    return query


def _find_reference(
    query: SpjQuery, catalog: Catalog
) -> tuple[Occurrence, Occurrence, Reference] | None:
    classes = EqualityClasses(query.occurrences, query.conditions)
    types = Types(catalog, query.occurrences)
    used = {a for c in query.conditions for a in condition_attributes(c)}
    used |= {a for _, o in query.outputs for a in output_attributes(o)}
    for target in query.occurrences:
        relation = catalog.table(target.table)
        if not isinstance(relation, Relation):
            continue
        columns = {a.column for a in used if a.alias == target.alias}
        for owner in query.occurrences:
            if owner == target or owner.table not in catalog.streams:
                continue
            for reference in catalog.table(owner.table).references:
                if len(reference.columns) > 1:
                    continue
                pairs = [
                    (Attribute(owner.alias, c), Attribute(target.alias, t))
                    for c, t in zip(reference.columns, reference.to, strict=True)
                ]
                if (
                    reference.relation == relation.name
                    and columns <= set(reference.to)
                    and any(set(key) <= set(reference.to) for key in relation.keys)
                    and all(classes.find(a) == classes.find(b) for a, b in pairs)
                    and all(types.type_of(a) == types.type_of(b) for a, b in pairs)
                ):
                    return owner, target, reference
    return None


def _drop(query: SpjQuery, owner: Occurrence, target: Occurrence, by: Reference) -> SpjQuery:
    partner = dict(zip(by.to, by.columns, strict=True))

    def change(attribute: Attribute) -> Attribute:
        if attribute.alias != target.alias:
            return attribute
        return Attribute(owner.alias, partner[attribute.column])

    provenance = ((owner.alias if a == target.alias else a, p) for a, p in query.provenance)
    return replace(
        query,
        occurrences=tuple(o for o in query.occurrences if o != target),
        conditions=tuple(map_condition(c, change) for c in query.conditions),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
        provenance=tuple(dict.fromkeys(provenance)),
    )
