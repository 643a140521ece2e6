"""The rows with the first numbers of each key, in any order, over all that came."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope, column_names
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import expand_rows, refuse, resolve
from ontoweir.rewriter.joins.read_later import rank_greatest
from ontoweir.rewriter.latest.find_numbered import (
    Numbered,
    find_numbered,
    refuse_first,
    require_once,
)
from ontoweir.rewriter.latest.put_inside import put_inside
from ontoweir.rewriter.latest.take_groups import take_groups
from ontoweir.rewriter.model.aggregation import Aggregation, FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import (
    LiteralOutput,
    NotNull,
    NullOutput,
    SpjQuery,
    SpjUnion,
    output_attributes,
)
from ontoweir.rewriter.nulls.null_places import NOWHERE, NullPlaces
from ontoweir.rewriter.ties.note_ties import note_ties, show_order

if TYPE_CHECKING:
    from sqlglot import exp

HIDDEN = "of the first: "
"""How the columns are called, at the beginning, that are not shown."""
KEY, ORDER = f"{HIDDEN}key", f"{HIDDEN}order"
"""What the columns are called, with a number, by which rows are numbered."""
NUMBER, TOLD = f"{HIDDEN}number", f"{HIDDEN}told"
"""What the columns are called that say which rows are told."""


def read_first(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[[exp.Select, NullPlaces], SpjUnion]",
) -> SpjUnion | None:
    """ROW_NUMBER(), RANK() or DENSE_RANK() OVER (PARTITION BY key ORDER BY …) <= n, by QUALIFY or
    around a subquery, as rows that hold until n others come before them.

    None: it is something else: the first by time are final, and one latest row by time is
    replaced by the next (read_latest).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a SELECT of which the columns at some places may be NULL.

    Raises:
        SqlRefusal: it is beyond that, or which rows are the first is not known.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    found = find_numbered(rank_greatest(put_inside(tree), catalog), catalog)
    if found is None:
        return None
    window, rows, keys = found.window, found.rows, found.keys
    order = window.args["order"].expressions
    scope, base = _read_rows(rows, catalog, window)
    columns = [resolve(scope, k) for k in keys]
    for item in order:
        if item.find(exp.AggFunc, exp.Window) is not None or item.args.get("with_fill"):
            raise refuse_first(item, f"the order of {show_sql(window)}", "order by columns")
    if window.args.get("spec"):
        raise refuse_first(window, "a frame of a number", "leave it out")
    require_once(found.number, [e.alias_or_name for e in rows.expressions], window)
    by = [resolve(scope, o.this) for o in order]
    single = _find_single(rows, scope, base, [*columns, *by])
    numbering = Numbering(_NUMBERINGS[type(window.this).__name__])
    said, rest = show_order(window.args["order"]), list[str]()
    if numbering is Numbering.ROWS and single is None:
        more, single = _complete_order(found, scope, base, [*columns, *by])
        rest = [show_sql(item) for item in more]
        order += [exp.Ordered(this=item, nulls_first=True) for item in more]
    more = _list_hidden(found)
    if found.around is not None and aggregates(_around(found)):
        there = [(base[0], c) for c in single or ()]
        made, names, groups = _read_groups(found, more, (scope, there), read)
    else:
        made, names, groups = *_read_plain(found, more, scope, (base[0], single or ()), read), None
    number = found.number if found.number is not None or found.least == 1 else NUMBER
    first = FirstRows(
        numbering,
        found.limit,
        tuple(
            (
                names[f"{ORDER} {n + 1}"],
                bool(o.args.get("desc")),
                bool(o.args.get("nulls_first")),
            )
            for n, o in enumerate(order)
        ),
        single,
        None if number is None else names.get(number, number),
        found.least,
        names[TOLD] if found.told else None,
    )
    standing = Standing(
        tuple(dict.fromkeys(names[f"{KEY} {n + 1}"] for n in range(len(keys)))),
        hidden=tuple(names.values()) if groups is None else (),
        distinct=groups is None and found.around is not None,
        groups=groups,
        first=first,
    )
    made = replace(made, standing=standing)
    return note_ties(made, said, rest) if rest else made


def _complete_order(
    found: Numbered,
    scope: Scope,
    base: tuple[str, Stream],
    by: list[tuple[str, str] | None],
) -> "tuple[list[exp.Expr], tuple[str, ...] | None]":
    """By what rows follow each other that an order leaves equal: the time, and the least key of the
    stream that then tells them apart, which is told; or all that is asked of them (None)."""
    from sqlglot import exp

    alias, stream = base
    for key in sorted(stream.keys, key=len):
        timed = [stream.timestamp, *(c for c in key if c != stream.timestamp)]
        rest = [(alias, c) for c in timed if (alias, c) not in by]
        single = _find_single(found.rows, scope, base, [*by, *rest])
        if single is not None:
            return [_name(*one) for one in rest], single
    around = found.around
    shown = [e.unalias() for e in found.rows.expressions]
    if around is not None:
        shown = [c for e in shown for c in e.find_all(exp.Column)]
        others = [around.args.get(k) for k in ("group", "having")]
        shown += [c for e in others if e is not None for c in e.find_all(exp.Column)]
    shown += [c for one in found.told for c in one.find_all(exp.Column)]
    asked = [_name(alias, stream.timestamp), *(e for e in shown if e.find(exp.Column))]
    kept: dict[object, exp.Expr] = {}
    for item in asked:
        of = resolve(scope, item)
        if of is None or of not in by:
            kept.setdefault(item.sql() if of is None else of, item.copy())
    return [*kept.values()], None


def _name(alias: str, name: str) -> "exp.Column":
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(alias, quoted=True))


def _read_plain(
    found: Numbered,
    more: "list[exp.Expr]",
    scope: Scope,
    single: tuple[str, tuple[str, ...]],
    read: "Callable[[exp.Select, NullPlaces], SpjUnion]",
) -> tuple[SpjUnion, dict[str, str]]:
    """The rows, and how the columns that say which are told are called; `single`: the columns of a
    table that are not NULL."""
    rows = found.rows
    shown = len(rows.expressions)
    rows.set("expressions", [*rows.expressions, *more])
    of = [resolve(scope, e.unalias()) for e in rows.expressions]
    alias, there = single
    known = {n for n, c in enumerate(of) if c is not None and c[0] == alias and c[1] in there}
    free = frozenset(range(len(of))) - known
    apart = frozenset(n for n in free if n >= shown)
    made = read(rows, NullPlaces(apart, free - apart))
    named = made.variables[shown : shown + len(more)]
    return made, {e.alias: v for e, v in zip(more, named, strict=True)}


def _around(found: Numbered) -> "exp.Select":
    """The rows, with what is asked of them together."""
    rows = found.rows.copy()
    for key, part in found.around.args.items() if found.around is not None else ():
        if part is not None and key in ("group", "having"):
            rows.set(key, part.copy())
    return rows


def _read_groups(
    found: Numbered,
    more: "list[exp.Expr]",
    known: tuple[Scope, list[tuple[str, str]]],
    read: "Callable[[exp.Select, NullPlaces], SpjUnion]",
) -> tuple[SpjUnion, dict[str, str], Aggregation]:
    """The rows, how the columns that say which are told are called, and the groups of these;
    `known`: the tables, and columns that are not NULL."""
    from sqlglot import exp

    rows, (scope, single) = _around(found), known
    times = {(a, t.timestamp) for a, t in scope.tables.items() if isinstance(t, Stream)}
    if found.around is not None and found.around.args.get("distinct"):
        raise refuse_first(found.window, "DISTINCT of groups", "leave it out")
    counted = [
        exp.alias_(call(this=e.unalias()), e.alias, quoted=True)
        for e in more
        for call in (exp.Max if _is_there(e, scope, times) else exp.Count,)
    ]  # a COUNT of what is never NULL has no argument
    rows.set("expressions", [*rows.expressions, *counted])
    made = read(rows, NOWHERE)
    assert made.aggregation is not None
    names = {a.name: a.argument for a in made.aggregation.aggregates if a.name.startswith(HIDDEN)}
    union, _, groups = take_groups(made, HIDDEN)
    there = [v for e in more if resolve(scope, e.unalias()) in single and (v := names[e.alias])]
    disjuncts = tuple(q for d in union.disjuncts if (q := _require(d, there)) is not None)
    union = replace(union, disjuncts=disjuncts)
    return union, {n: v for n, v in names.items() if v is not None}, groups


def _is_there(item: "exp.Expr", scope: Scope, times: set[tuple[str, str]]) -> bool:
    """Whether it is never NULL."""
    return item.alias == TOLD or resolve(scope, item.unalias()) in times


def _require(query: SpjQuery, there: Sequence[str]) -> SpjQuery | None:
    """A disjunct whose rows have values of some variables (None: it has none)."""
    named = dict(query.outputs)
    null = {o.value for _, o in query.outputs if isinstance(o, NullOutput)}
    if any(isinstance(named[n], NullOutput) for n in there):
        return None
    values = {a for n in there for a in output_attributes(named[n])}
    if null & values:
        return None
    outputs = tuple(
        (n, replace(o, optional=False) if isinstance(o, LiteralOutput) and o.value in values else o)
        for n, o in query.outputs
    )
    known = map(NotNull, sorted(values, key=str))
    return replace(query, conditions=(*query.conditions, *known), outputs=outputs)


_NUMBERINGS = {"RowNumber": "ROW_NUMBER", "Rank": "RANK", "DenseRank": "DENSE_RANK"}


def _list_hidden(found: Numbered) -> "list[exp.Expr]":
    """The columns that say which rows are told, and are not shown."""
    from sqlglot import exp

    order = found.window.args["order"].expressions
    named = [(e.copy(), f"{KEY} {n + 1}") for n, e in enumerate(found.keys)]
    named += [(o.this.copy(), f"{ORDER} {n + 1}") for n, o in enumerate(order)]
    if found.least > 1 and found.number is None:
        named.append((exp.Literal.number(1), NUMBER))
    if found.told:
        case = exp.case().when(exp.and_(*found.told), exp.Literal.number(1))
        named.append((case.else_(exp.Literal.number(0)), TOLD))
    return [exp.alias_(e, name, quoted=True) for e, name in named]


def _read_rows(
    rows: "exp.Select", catalog: Catalog, place: "exp.Expr"
) -> tuple[Scope, tuple[str, Stream]]:
    """The names of a SELECT over tables, and its one stream; * in it is expanded."""
    scope, streams = expand_rows(rows, catalog, place, "first")
    changing = [t for t in scope.tables.values() if isinstance(t, Stream) and t.versions]
    if len(streams) != 1 or changing or rows.args.get("group") or rows.args.get("distinct"):
        raise refuse(
            place,
            "the first of joined rows of streams, or of relations that change, or of groups",
            "write it of the rows of one stream, with static relations",
        )
    return scope, streams[0]


def _find_single(
    rows: "exp.Select",
    scope: Scope,
    base: tuple[str, Stream],
    by: list[tuple[str, str] | None],
) -> tuple[str, ...] | None:
    """A key of the stream by which matches of one key are never equal in the order, also with rows
    of static relations (None: there is none). Rows in which a column of it is NULL may be equal,
    and are not shown, as its columns are not declared `nullable`."""
    alias, _ = base
    same = _list_equal(rows, scope)
    known = {c for c in by if c is not None}
    single: tuple[str, ...] | None = None
    left = dict(scope.tables)
    while True:
        size = len(known), len(left)
        for one, other in same:
            if other is None:
                known.add(one)
            elif one in known or other in known:
                known |= {one, other}
        for name, table in list(left.items()):
            mine = {c for a, c in known if a == name}
            for key in table.keys:
                columns = [c for n in key if (c := table.column(n)) is not None]
                if not set(key) <= mine or any(c.nullable for c in columns):
                    continue
                left.pop(name, None)
                known |= {(name, c) for c in column_names(table)}
                single = key if name == alias and single is None else single
        if size == (len(known), len(left)):
            return None if left else single


def _list_equal(
    rows: "exp.Select", scope: Scope
) -> "list[tuple[tuple[str, str], tuple[str, str] | None]]":
    """Columns that are equal in all matches, and those that are constant (beside None)."""
    from sqlglot import exp

    said = [j.args["on"] for j in rows.args.get("joins") or () if j.args.get("on") is not None]
    said += [rows.args["where"].this] if rows.args.get("where") is not None else []
    made: list[tuple[tuple[str, str], tuple[str, str] | None]] = []
    for one in (c for tree in said for c in split_conjuncts(tree)):
        if not isinstance(one, exp.EQ):
            continue
        left, right = resolve(scope, one.this), resolve(scope, one.expression)
        if left is not None and right is not None:
            made.append((left, right))
        elif (left is not None and isinstance(one.expression, exp.Literal)) or (
            right is not None and isinstance(one.this, exp.Literal)
        ):
            column = left if left is not None else right
            assert column is not None
            made.append((column, None))
    return made
