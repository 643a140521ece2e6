"""Groups of solutions that hold until others end them, as a part of what is joined."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.aggregates.group_latest import group_latest
from ontoweir.rewriter.composed.compute_row import make_column, name_text
from ontoweir.rewriter.model.spj import Output, SpjQuery, SpjUnion
from ontoweir.rewriter.standing.answers_of import answers_of


def group_solutions(union: SpjUnion, begun: SpjUnion, catalog: Catalog) -> SpjUnion | None:
    """The groups of the latest of each key, and the like, as a query that joins nothing with these
    solutions and groups them (None: what they show are terms of several forms, or types).

    Args:
        union: the query of the groups.
        begun: the row that is there from the first timestamp of its streams on.
        catalog: the tables.
    """
    made = group_latest(union, catalog, begun)
    standing = union.standing
    if made is None or made.joined is None or made.joined.row is None or standing is None:
        return None
    row, groups = made.joined.row, standing.groups
    outputs = [dict(q.outputs) for q in answers_of(union.disjuncts, standing)]
    terms: list[tuple[str, Output]] = []
    for name, kind in row.columns:
        column = make_column(name, kind, [o[name] for o in outputs], sure=True)
        if column is None:
            return None
        terms.append((name, name_text(name, column.term)))
    names = tuple(name for name, _ in terms)
    shown = SpjUnion(
        union.name, names, (SpjQuery((), (), tuple(terms)),), distinct=False, aggregation=groups
    )
    return replace(made, joined=replace(made.joined, row=replace(row, terms=shown)))
