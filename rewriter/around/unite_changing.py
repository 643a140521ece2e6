"""Rows that come and go of several queries, as those of one: UNION, EXCEPT, INTERSECT."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, ColumnType, DecimalType
from ontoweir.mappings.sql.read_scope import SqlRefusal, SqlUnitsDiffer
from ontoweir.rewriter.aggregates.row_union import show_columns
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.around.join_one import join_one, names_one
from ontoweir.rewriter.around.level_sides import is_null, level_sides, name_columns, type_nulls
from ontoweir.rewriter.around.open_around import open_around
from ontoweir.rewriter.differences.since_first import list_begins
from ontoweir.rewriter.grouped.nest_side import nest_side
from ontoweir.rewriter.joined.part_rows import read_begun, type_joined
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.standing.make_standing import types_of

if TYPE_CHECKING:
    from sqlglot import exp


def unite_changing(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[[exp.Query], SpjUnion]",
    fresh: "Callable[..., SpjUnion]",
) -> SpjUnion:
    """The query of what is found by several, where one of them has groups of windows, or joins rows
    that come and go (SpjUnion.joined); another one as it is read.

    Args:
        tree: the query, whose names are as they were written.
        catalog: what it may read (Catalog.begins: the streams of the whole).
        read: reads a query.
        fresh: reads a part of it, by itself (PartReader).

    Raises:
        SqlRefusal: it is not read.
    """
    from sqlglot import exp

    try:
        return read(tree)
    except SqlUnitsDiffer:
        raise  # it is read again, in steps that all streams have in common
    except (SqlRefusal, QueryError):
        whole, made = open_with(tree), None
        try:
            if isinstance(whole, exp.SetOperation):
                made = _Uniter(catalog, fresh).unite(whole)
            elif (opened := open_around(whole, catalog)) != whole:
                made = unite_changing(opened, catalog, read, fresh)
        except (SqlUnitsDiffer, UnitsDiffer):
            raise
        except (SqlRefusal, QueryError):
            pass  # what is said of the whole names what was written
        if made is None:
            raise
    return made


class _Uniter:
    """Reads the sides of UNION, EXCEPT and INTERSECT."""

    def __init__(self, catalog: Catalog, fresh: "Callable[..., SpjUnion]") -> None:
        self.catalog, self.fresh = catalog, fresh

    def unite(self, tree: "exp.SetOperation") -> SpjUnion | None:
        """The query of all sides (None: rows of one do not come and go by themselves, or columns
        have several types, or it is EXCEPT ALL or INTERSECT ALL)."""
        from sqlglot import exp

        distinct, kind = bool(tree.args.get("distinct")), _KINDS.get(type(tree).__name__)
        if {k for k, v in tree.args.items() if v} - {"this", "expression", "distinct"}:
            return None
        if kind is None or not (distinct or kind is JoinKind.UNION):
            return None
        united = isinstance(tree, exp.Union)
        first, *others = (
            _list_sides(tree, distinct=distinct) if united else (tree.this, tree.expression)
        )
        trees = [first, *map(name_columns, others)]
        if any(all(is_null(t, n) for t in trees) for n in range(len(first.selects))):
            return None
        sides = self._read_all(list(map(type_nulls, trees)))
        if sides is None:
            return None
        columns = [_list_columns(side, self.catalog) for side in sides]
        if len({len(of) for of in columns}) == 1 and _are_several(columns):
            types = [[kind for _, kind in of] for of in columns]
            sides = self._read_all(level_sides(list(zip(trees, types, strict=True))))
            if sides is None:
                return None
            columns = [_list_columns(side, self.catalog) for side in sides]
        first = columns[0]
        if any([k for _, k in of] != [k for _, k in first] for of in columns) or not first:
            return None
        parts = [JoinedPart(sides[0])]
        for number, (side, of) in enumerate(zip(sides[1:], columns[1:], strict=True), 1):
            pairs = zip(first, of, strict=True)
            equal = tuple((f"0 {a}", f"{number} {b}") for (a, _), (b, _) in pairs)
            parts.append(JoinedPart(side, equal, kind=kind, nulls=not united))
        typed = [(name, f"0 {name}", kind) for name, kind in first if kind is not None]
        if len(typed) < len(first):
            return None
        shown, row = show_columns(typed)
        joined = Joined(PART, tuple(parts), shown, distinct, row)
        kinds = [{v: types_of(s, v, self.catalog) for v in s.variables} for s in sides]
        return unite_parts(sides, joined, kinds)

    def _read_all(self, trees: "Sequence[exp.Query]") -> list[SpjUnion] | None:
        sides: list[SpjUnion] = []
        for tree in trees:
            side = self._read(tree)
            if side is None:
                return None
            sides.append(side)
        return sides

    def _read(self, tree: "exp.Query") -> SpjUnion | None:
        from sqlglot import exp

        inside = tree.unnest()
        if isinstance(inside, exp.SetOperation):
            return self.unite(inside)
        if not isinstance(inside, exp.Select):
            return None
        try:
            found = self._read_side(inside)
        except (SqlUnitsDiffer, UnitsDiffer):
            raise
        except (SqlRefusal, QueryError):
            nested = self._nest(inside)
            if nested is None:
                raise
            return self._read_side(nested)
        nested = self._nest(inside) if found is None else None
        return found if nested is None else self._read_side(nested)

    def _nest(self, select: "exp.Select") -> "exp.Select | None":
        """A query around groups of all rows so far (None: it has none)."""
        from sqlglot import exp

        opened = open_around(select, self.catalog)
        made = nest_side(opened) if isinstance(opened, exp.Select) else opened
        return made if isinstance(made, exp.Select) and made != select else None

    def _read_side(self, inside: "exp.Select") -> SpjUnion | None:
        one, begun = self.fresh(inside, rows=False), None
        groups = one.aggregation if one.standing is None else one.standing.groups
        if groups is not None and not groups.group:
            begun = read_begun(list_begins(self.catalog), self.fresh).union
        catalog = self.catalog
        return join_one(one, catalog, begun, single=names_one(inside, catalog))


_DIGITS = 19
"""So many digits have decimals that are computed with."""
_KINDS = {"Union": JoinKind.UNION, "Except": JoinKind.ABSENT, "Intersect": JoinKind.PRESENT}
"""How the rows of the second side are joined with those of the first."""


def _list_sides(tree: "exp.Query", *, distinct: bool) -> "list[exp.Query]":
    """The queries of a UNION, those of one inside too that leaves nothing more out."""
    from sqlglot import exp

    inside = tree.unnest()
    tree = inside if isinstance(inside, exp.Query) else tree
    if not isinstance(tree, exp.Union):
        return [tree]
    inner, plain = bool(tree.args.get("distinct")), {"this", "expression", "distinct"}
    if (inner and not distinct) or {k for k, v in tree.args.items() if v} - plain:
        return [tree]
    sides = (tree.this, tree.expression)
    return [one for side in sides for one in _list_sides(side, distinct=distinct)]


def _are_several(columns: Sequence[list[tuple[str, ColumnType | None]]]) -> bool:
    """Whether a column has several types, or none that is known."""
    kinds = [{kind for _, kind in of} for of in zip(*columns, strict=True)]
    return any(len(of) > 1 or None in of for of in kinds)


def _widen(kind: ColumnType | None) -> ColumnType | None:
    """The type of decimals whatever their digits are: a sum has more than what is added up."""
    if not isinstance(kind, DecimalType):
        return kind
    return DecimalType(max(kind.precision, _DIGITS), kind.scale)


def _list_columns(union: SpjUnion, catalog: Catalog) -> list[tuple[str, ColumnType | None]]:
    """What is told of joined rows, with its type (None: it has several)."""
    assert union.joined is not None
    kinds = type_joined(union, union.joined, catalog)
    made: list[tuple[str, ColumnType | None]] = []
    for name in union.joined.told:
        of = {_widen(kind) for kind in kinds.get(name, set())}
        made.append((name, next(iter(of)) if len(of) == 1 else None))
    return made
