"""Whether some columns tell rows apart that are joined of groups."""

from collections.abc import Collection

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Field
from ontoweir.mappings.sql.read_scope import column_names
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import (
    Attribute,
    Condition,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)


def tells_apart(
    joined: Joined[SpjUnion] | None, columns: Collection[str], catalog: Catalog
) -> bool:
    """Whether no two of the joined rows are equal in some columns: these show the keys of the
    groups of the first part, each of which is joined with at most one row of every other part: of
    other groups by their keys, and of a static relation by a key that is declared.

    Args:
        joined: the join, whose rows are told (None: there is none).
        columns: some of those that are told.
        catalog: the tables.
    """
    if joined is None:
        return False
    first, *others = joined.parts
    groups = _find_groups(first)
    if groups is None or not all(_is_one(part, catalog) for part in others):
        return False
    shown = {*columns}
    if joined.row is not None:
        computed = joined.row.shape.computed
        shown = {m.column for name, m in computed if name in columns and isinstance(m, Field)}
    known = {v.partition(" ")[2] for name, v in joined.shown if name in shown and v[:2] == "0 "}
    missing = {*groups.told.row} - known
    if not missing:
        return True
    if first.groups is None or first.query.joined is not None or not _is_one_query(first.query):
        return False  # of several queries one may say another thing than the others
    return all(_follow(q, known, missing, catalog) for q in first.query.disjuncts)


def _is_one_query(union: SpjUnion) -> bool:
    """Whether the queries of a union are one, whose rows are told apart by what is NULL in them."""
    first, *others = union.disjuncts
    shown = {name: o for q in union.disjuncts for name, o in q.outputs if type(o) is not NullOutput}

    def is_alike(query: SpjQuery) -> bool:
        absent = {c.attribute for c in query.conditions if isinstance(c, IsNull)}
        for name, output in query.outputs:
            known = shown.get(name, output)
            if output != known and not {*output_attributes(known)} & absent:
                return False
        return query.occurrences == first.occurrences and _said(query) == _said(first)

    return not others or all(map(is_alike, union.disjuncts))


def _said(query: SpjQuery) -> set[Condition]:
    """The conditions of a query, but for those on what is NULL."""
    return {c for c in query.conditions if not isinstance(c, (IsNull, NotNull))}


def _follow(
    query: SpjQuery, known: Collection[str], wanted: Collection[str], catalog: Catalog
) -> bool:
    """Whether the values of some variables follow from those of others: of a static relation, a key
    of which they say, all columns do."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    outputs = dict(query.outputs)

    def classes_of(names: Collection[str]) -> set[Attribute]:
        mine = [outputs[n] for n in names if n in outputs]  # and no aggregates
        return {classes.find(a) for output in mine for a in output_attributes(output)}

    found = classes_of(known)
    waiting = [o for o in query.occurrences if o.table in catalog.relations]
    while waiting:
        for one in waiting:
            keys = catalog.relations[one.table].keys
            if any(all(classes.find(Attribute(one.alias, c)) in found for c in k) for k in keys):
                break
        else:
            break
        columns = column_names(catalog.relations[one.table])
        found |= {classes.find(Attribute(one.alias, c)) for c in columns}
        waiting.remove(one)
    return {*wanted} <= outputs.keys() and classes_of(wanted) <= found


def _is_one(part: JoinedPart[SpjUnion], catalog: Catalog) -> bool:
    """Whether a row is joined with at most one of a part."""
    match part.kind:
        case JoinKind.PRESENT | JoinKind.ABSENT | JoinKind.BEGUN:
            return True
        case JoinKind.UNION:
            return False
        case JoinKind.INNER | JoinKind.LEFT:
            known = {mine.partition(" ")[2] for _, mine in part.equal}
            groups = _find_groups(part)
            if groups is not None:
                return {*groups.told.row} <= known
            return _has_key(part.query, known, catalog)


def _has_key(union: SpjUnion, names: Collection[str], catalog: Catalog) -> bool:
    """Whether variables are a key of the one static relation whose rows a query tells."""
    if len(union.disjuncts) != 1:
        return False
    (query,) = union.disjuncts
    static = [o for o in query.occurrences if o.table in catalog.relations]
    others = [o for o in query.occurrences if o not in static]
    blocks = {block.stream.name for block in union.blocks}
    if len(static) != 1 or any(o.table not in blocks for o in others):
        return False
    outputs = dict(query.outputs)
    values = [o.value for n in names if isinstance(o := outputs.get(n), LiteralOutput)]
    known = {v.column for v in values if v.alias == static[0].alias}
    return any({*key} <= known for key in catalog.relations[static[0].table].keys)


def _find_groups(part: JoinedPart[SpjUnion]) -> Aggregation | None:
    """The groups that a part's rows are, each with its keys (None: they are none)."""
    joined = part.query.joined
    row = None if joined is None else joined.row
    groups = part.groups if row is None else row.groups
    return None if groups is None or not {*groups.told.row} <= {*groups.told.columns} else groups
