"""What a query computes of solutions that hold until something ends them, in SPARQL."""

from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.absence.compute_solutions import compute_solutions
from ontoweir.rewriter.latest.take_groups import or_null
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.standing.answers_of import answers_of
from ontoweir.rewriter.standing.make_standing import make_standing


def compute_standing(union: SpjUnion, query: ConjunctiveQuery, catalog: Catalog) -> SpjUnion:
    """The query with its expressions and groups of what holds.

    Args:
        union: the solutions (find_standing), which show the variables that are computed with.
        query: says what is computed.
        catalog: the tables.

    Raises:
        QueryError: what is computed is refused anywhere; or it is of groups of time.
    """
    how = union.standing
    assert how is not None
    shown = tuple(n for n in union.variables if n not in how.hidden)
    answers = answers_of(union.disjuncts, how)
    others = tuple(q for q in union.disjuncts if q not in answers)
    plain = replace(
        union,
        variables=shown,
        disjuncts=tuple(_choose(q, shown) for q in answers),
        standing=None,
        distinct=False,
    )
    made = compute_solutions(plain, query, catalog)
    same = [q.occurrences for q in made.disjuncts] == [q.occurrences for q in answers]
    if not same or made.ends or made.begins or (made.aggregation and made.aggregation.panes):
        raise QueryError(
            "buckets of time of what holds until something ends it",
            why="its groups are those of the rows that hold now, whatever their time",
            fix="leave the bucket out, or say how much later the other rows are, as in "
            'FILTER(?u - ?t <= "PT30M"^^xsd:dayTimeDuration)',
            source=union.source,
        )
    groups = made.aggregation
    disjuncts = tuple(
        replace(
            one,
            outputs=(
                *((n, or_null(o) if groups else o) for n, o in one.outputs),
                *((n, dict(q.outputs)[n]) for n in how.key),
            ),
        )
        for one, q in zip(made.disjuncts, answers, strict=True)
    )
    rows = replace(
        made,
        variables=(*made.variables, *how.key),
        disjuncts=disjuncts,
        aggregation=None,
        distinct=False,
    )
    enders = replace(
        union,
        variables=how.key,
        disjuncts=tuple(_choose(q, how.key) for q in others),
        standing=None,
    )
    again = replace(
        how, ender=None, hidden=how.key, groups=groups, distinct=query.distinct and groups is None
    )
    whole = make_standing(rows, enders, again, extend_catalog(catalog, made))
    assert whole is not None  # the key is as it was
    return whole


def _choose(query: SpjQuery, names: tuple[str, ...]) -> SpjQuery:
    return replace(query, outputs=tuple((n, dict(query.outputs)[n]) for n in names))
