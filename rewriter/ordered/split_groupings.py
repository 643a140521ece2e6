"""GROUP BY of several groupings (ROLLUP, CUBE, GROUPING SETS) as the UNION ALL of one of each."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.joins.own_nodes import list_own
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

    Grouping: TypeAlias = tuple[exp.Expr, ...]

_WHY = "such a query is the UNION ALL of one query for each grouping"


def split_groupings(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in which each SELECT has one grouping: of several it is the UNION ALL, in each part
    of which the columns that are not grouped by are NULL, and GROUPING says of which that is so.

    Args:
        tree: the query, with names as they were written; it is changed in place.
        catalog: the tables.

    Raises:
        SqlRefusal: a grouping is of all times, so that its groups are never final, and others are
            not, or it is of all rows; what is selected is computed of NULL; or functions over
            windows are beside it.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        group = select.args.get("group")
        if group is None or not any(_list_several(group)):
            continue
        made = _split(select, group, catalog)
        if select is tree:
            tree = made
        elif isinstance(select.parent, exp.SetOperation):
            select.replace(made.subquery())
        else:
            select.replace(made)
    return tree


def _list_several(group: "exp.Group") -> "Iterator[exp.Expr]":
    """What makes several groupings."""
    from sqlglot import exp

    kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
    yield from (e for e in group.expressions if isinstance(e, kinds))
    for name in ("rollup", "cube", "grouping_sets"):
        yield from group.args.get(name) or ()


def _split(select: "exp.Select", group: "exp.Group", catalog: Catalog) -> "exp.Query":
    """The UNION ALL of the groupings of a SELECT."""
    from sqlglot import exp

    if list_own(select, exp.Window) or select.args.get("distinct"):
        fix = "write it in a subquery in FROM, and the rest around it"
        raise _refuse(select, "functions over windows, or DISTINCT, beside several groupings", fix)
    scope = list_tables(select, catalog)
    sets = [tuple(mean_group(i, select, scope).copy() for i in s) for s in _list_sets(group)]
    sets = [tuple(dict.fromkeys(s)) for s in sets]
    closing = [any(_may_close(item, scope) for item in one) for one in sets]
    for one, closes in [] if rows_leave(select) else zip(sets, closing, strict=True):
        if any(closing) and not closes:
            shown = ", ".join(map(show_sql, one))
            raise SqlRefusal(
                f"GROUP BY of several groupings, of which ({shown}) is of all times",
                why="its groups are never final, and those of the others are",
                fix="group by a bucket of time in each, as in GROUP BY date_trunc('day', ts), "
                "ROLLUP (a, b)",
                line=line_of(select),
            )
    if not rows_leave(select) and not any(closing) and () in sets:
        raise SqlRefusal(
            "the total of all rows of all times beside groups of them",
            why="it has a row over nothing, before any row has come, and the others have none",
            fix="write GROUPING SETS without (), and a query of its own for the total",
            line=line_of(select),
        )
    every = tuple(dict.fromkeys(item for one in sets for item in one))
    parts = [_make_part(select, one, every) for one in sets]
    made: exp.Query = parts[0]
    for part in parts[1:]:
        made = exp.union(made, part, distinct=False, copy=False)
    for name in ("with_", "order", "limit", "offset"):
        if (held := select.args.get(name)) is not None:
            made.set(name, held.copy())
    return made


def _list_sets(group: "exp.Group") -> "list[Grouping]":
    """The groupings: the product of what stands side by side."""

    several = list(_list_several(group))
    plain = tuple(e for e in group.expressions if e not in several)
    if len(several) == 1 and not several[0].expressions:  # GROUP BY a, b WITH ROLLUP
        return _open(several[0], [(e,) for e in plain])
    if group.args.get("grouping_sets"):  # GROUP BY a, b GROUPING SETS (…), as Hive has it
        plain = ()
    sides: list[list[Grouping]] = [[(e,)] for e in plain]
    sides += [_open(one, [_list_members(e) for e in one.expressions]) for one in several]
    return [tuple(e for part in chosen for e in part) for chosen in product(*sides)]


def _open(several: "exp.Expr", members: "Sequence[Grouping]") -> "list[Grouping]":
    """The groupings that ROLLUP, CUBE or GROUPING SETS make of their members."""
    from sqlglot import exp

    chosen: list[Sequence[Grouping]]
    match several:
        case exp.Rollup():
            chosen = [members[:n] for n in range(len(members), -1, -1)]
        case exp.Cube():
            sizes = range(len(members), -1, -1)
            chosen = [one for n in sizes for one in combinations(members, n)]
        case _:
            chosen = [[one] for one in members]
    return [tuple(e for member in one for e in member) for one in chosen]


def _list_members(tree: "exp.Expr") -> "Grouping":
    """Several expressions that are one member, or one."""
    from sqlglot import exp

    return tuple(tree.expressions) if isinstance(tree, exp.Tuple) else (tree.unnest(),)


def _may_close(item: "exp.Expr", scope: Scope) -> bool:
    """Whether groups may be final by it: it is computed of a time, or of what is no declared
    table's."""
    from sqlglot import exp

    def is_value(column: "exp.Column") -> bool:
        try:
            return scope.step_of(scope.resolve(column.table or None, column.name)) is None
        except SqlRefusal:
            return False

    columns = list(item.find_all(exp.Column))
    return bool(columns) and not all(map(is_value, columns))


def _make_part(select: "exp.Select", one: "Grouping", every: "Grouping") -> "exp.Select":
    """The SELECT of one grouping."""
    from sqlglot import exp

    part = select.copy()
    for name in ("with_", "order", "limit", "offset"):
        part.set(name, None)
    absent = [item for item in every if item not in one]
    items = []
    for item in part.expressions:
        called = item.alias or (item.name if isinstance(item, exp.Column) else item.sql("spark"))
        made = _leave_out(item.unalias(), one, absent)
        items.append(exp.alias_(made, called, quoted=True))
    part.set("expressions", items)
    if (having := part.args.get("having")) is not None:
        having.set("this", _leave_out(having.this, one, absent))
    part.set("group", exp.Group(expressions=[item.copy() for item in one]))
    return part


def _leave_out(tree: "exp.Expr", one: "Grouping", absent: "Sequence[exp.Expr]") -> "exp.Expr":
    """An expression of a group's row in which what is not grouped by is NULL.

    Raises:
        SqlRefusal: it is computed of NULL.
    """
    from sqlglot import exp
    from sqlglot.optimizer.simplify import simplify

    shown = show_sql(tree)
    made: exp.Expr = exp.Paren(this=tree.copy())
    for call in list(made.find_all(exp.Grouping, exp.GroupingId)):
        told = 0
        for item in call.expressions:
            told = 2 * told + (item in absent)
        call.replace(exp.Literal.number(told))
    inside = made.walk(prune=lambda n: isinstance(n, exp.AggFunc) or n in absent)
    found = [n for n in inside if n in absent]
    for node in found:
        node.replace(exp.Null())
    for one_of in list(made.find_all(exp.Coalesce)) if found else ():
        given: list[exp.Expr] = [one_of.this, *one_of.expressions]
        given = [g for g in given if not isinstance(g, exp.Null)]
        plain = len(given) == 1 or (given and isinstance(given[0], exp.Literal))
        rest: exp.Expr = exp.Null()
        if given:
            rest = given[0] if plain else exp.Coalesce(this=given[0], expressions=given[1:])
        one_of.replace(rest)
    made = made.this
    if found or tree.find(exp.Grouping, exp.GroupingId):
        made = simplify(made).unnest()
    if found and not isinstance(made, exp.Null) and made.find(exp.Null) is not None:
        fix = "select the columns, or COALESCE or CASE WHEN GROUPING(…) = 1 of them"
        raise _refuse(tree, f"{shown} where it is not grouped by", fix)
    return made


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(what, why=_WHY, fix=fix, line=line_of(tree))
