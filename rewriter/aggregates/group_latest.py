"""Groups of the latest rows of keys, as what others join."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, StringType
from ontoweir.rewriter.aggregates.row_union import show_columns
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.make_standing import types_of
from ontoweir.rewriter.standing.take_shown import take_shown


def group_latest(union: SpjUnion, catalog: Catalog, begun: SpjUnion | None) -> SpjUnion | None:
    """Groups of rows that hold until others end them, as a query that joins nothing with these rows
    and groups them (None: they are not, or what they show is of several types).

    Args:
        union: the query.
        catalog: the tables.
        begun: the row that is there from the first timestamp of a query's streams on (None: there
            is no query that has one row, whatever there is).
    """
    standing = union.standing
    groups = None if standing is None else standing.groups
    if standing is None or groups is None or not (groups.group or begun is not None):
        return None
    if groups.around is not None or groups.numbered is not None or union.ends or union.begins:
        return None
    shape = take_shown(union)
    columns = []
    for variable in groups.variables:
        kinds = types_of(shape, variable, catalog)
        if len(kinds) != 1:
            return None
        (kind,) = kinds  # of SPARQL's terms there is none, which are texts
        columns.append((variable, f"0 {variable}", kind or StringType()))
    hidden = tuple(v for v in standing.hidden if v not in groups.variables)
    if {*union.variables} <= {*hidden}:  # a part has some column, which is the same in all rows
        hidden = tuple(v for v in hidden if v != standing.ender)
    rows = replace(union, standing=replace(standing, groups=None, hidden=hidden))
    parts, unions = [JoinedPart(rows)], [rows]
    if not groups.group and begun is not None:
        until = tuple(f"1 {v}" for v in begun.ends)
        parts.append(JoinedPart(begun, kind=JoinKind.BEGUN, until=until, ever=""))
        unions.append(begun)
    types = [{v: types_of(one, v, catalog) for v in one.variables} for one in unions]
    if any(len(of) != 1 for kinds_of in types for of in kinds_of.values()):
        return None
    pairs, row = show_columns(columns)
    joined = Joined(PART, tuple(parts), pairs, row=replace(row, groups=groups))
    return unite_parts(unions, joined, types)
