"""Whether some columns tell rows apart that are joined of groups."""

from collections.abc import Collection

from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion


def tells_apart(joined: Joined[SpjUnion] | None, columns: Collection[str]) -> bool:
    """Whether no two of the joined rows are equal in some columns: these show the keys of the
    groups of the first part, each of which is joined with at most one row of every other part.

    Args:
        joined: the join, whose rows are told (None: there is none).
        columns: some of those that are told.
    """
    if joined is None:
        return False
    first, *others = joined.parts
    groups = _find_groups(first)
    if groups is None or not all(map(_is_one, others)):
        return False
    read = {variable: name for name, variable in joined.shown}
    keys = [read.get(f"0 {key}") for key in groups.told.row]
    if joined.row is None:
        return {*keys} <= {*columns}
    computed = joined.row.shape.computed
    shown = {made.column for name, made in computed if name in columns and isinstance(made, Field)}
    return {*keys} <= shown


def _is_one(part: JoinedPart[SpjUnion]) -> bool:
    """Whether a row is joined with at most one of a part."""
    match part.kind:
        case JoinKind.PRESENT | JoinKind.ABSENT | JoinKind.BEGUN:
            return True
        case JoinKind.UNION:
            return False
        case JoinKind.INNER | JoinKind.LEFT:
            known = {mine.partition(" ")[2] for _, mine in part.equal}
            groups = _find_groups(part)
            return groups is not None and {*groups.told.row} <= known


def _find_groups(part: JoinedPart[SpjUnion]) -> Aggregation | None:
    """The groups that a part's rows are, each with its keys (None: they are none)."""
    joined = part.query.joined
    row = None if joined is None else joined.row
    groups = part.groups if row is None else row.groups
    return None if groups is None or not {*groups.told.row} <= {*groups.told.columns} else groups
