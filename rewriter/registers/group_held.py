"""Groups of rows that come and go: beside which rows of windows are, or are not."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.differences.count_rows import FROM_BOTH, MULTIPLICITY
from ontoweir.rewriter.differences.name_columns import is_known, name_tables
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.mean_group import mean_group
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import LiteralOutput, Output, SpjUnion
from ontoweir.rewriter.registers.count_registered import count_registered
from ontoweir.rewriter.registers.name_presence import is_register, name_presence
from ontoweir.rewriter.windows.rows_leave import has_now, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

_ROWS, _VALUE, _COUNTED = "rows that hold", "value", "how many of value"
_CLAUSES = {"expressions", "from_", "where", "joins", "group", "having"}


def group_held(
    tree: "exp.Query",
    catalog: Catalog,
    settle: "Callable[[exp.Query, Catalog], exp.Query]",
    read: "Callable[[exp.Query], SpjUnion]",
) -> SpjUnion | None:
    """An aggregate query of rows in windows, or of static relations, beside which rows of windows
    are, or are not: what its rows are, each counted (count_rows), with the groups that are told of
    them (Aggregation.around). None: another query.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        settle: a query in the words that are read.
        read: reads a query in these words.

    Raises:
        SqlRefusal: it groups by what it does not select, or by one value twice.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not _is_asked(tree, catalog):
        return None
    made = tree.copy()
    scope = list_tables(made, catalog)
    group = made.args.get("group")
    keys = [mean_group(g, made, scope).copy() for g in ([] if group is None else group.expressions)]
    made.set("group", exp.Group(expressions=keys) if keys else None)
    _name_shown(made)
    name_tables(made, scope)
    keys = list(made.args["group"].expressions) if keys else []
    calls = [c for p in _places(made) for c in p.find_all(exp.AggFunc)]
    arguments = [_argument(call) for call in calls]
    if None in arguments or any(k.find(exp.Query, exp.AggFunc, exp.Literal) for k in keys):
        return None
    values = dict.fromkeys([*keys, *(a for a in arguments if not isinstance(a, exp.Star | None))])
    if any(v.find(exp.Column) is None or v.find(exp.Query, exp.Window) for v in values):
        return None
    items = [item.unalias() for item in made.expressions]
    if hidden := [key for key in keys if key not in items]:
        raise SqlRefusal(
            f"GROUP BY {show_sql(hidden[0])} that is not selected",
            why="its rows are told as changes, of groups which the grouped columns tell apart",
            fix="select it too",
            line=line_of(tree),
        )
    if (outer := _group_values(made, tuple(values))) is None:
        return None
    rows = _select_rows(made, values, [f"{_VALUE} {n}" for n in range(len(values))])
    if _counted(settle(rows.copy(), catalog)) is None:
        return None
    told, shown = _take(read(settle(outer, catalog)), len(values))
    if not set(told.variables) <= set(shown):
        raise SqlRefusal(
            "GROUP BY of columns that are always equal, beside EXISTS of rows in windows",
            why="its rows are told apart by each of their columns once",
            fix="group by one of them, and show the other in the results",
            line=line_of(tree),
        )
    rows = _select_rows(made, [v for v, n in zip(values, shown, strict=True) if n], shown)
    counted = _counted(settle(rows, catalog))
    if counted is None or MULTIPLICITY in (*shown, *told.columns):
        return None
    union = read(counted)
    assert union.aggregation is not None
    return replace(union, aggregation=replace(union.aggregation, around=told))


def _is_asked(tree: "exp.Select", catalog: Catalog) -> bool:
    """Whether it is groups of rows that come and go, by what is beside them."""
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None or {k for k, v in tree.args.items() if v} - _CLAUSES or not aggregates(tree):
        return False
    if any(j.args.get("side") or j.args.get("kind") for j in tree.args.get("joins") or ()):
        return False
    scope = list_tables(tree, catalog)
    inside = [c for c in split_conjuncts(where.this) if c.find(exp.Query)]
    if not inside or not is_known(tree, scope) or any(p.find(exp.Query) for p in _places(tree)):
        return False
    if is_register(tree, catalog):
        named = name_presence(tree, catalog)
        return count_registered(named, catalog) is named
    return rows_leave(tree) and any(has_now(c) for c in inside)


def _places(select: "exp.Select") -> "list[exp.Expr]":
    """Its items, and HAVING."""
    having = select.args.get("having")
    return [*select.expressions, *([] if having is None else [having])]


def _name_shown(select: "exp.Select") -> None:
    """Let each item say what it is called; in place."""
    from sqlglot import exp

    for item in list(select.expressions):
        if not isinstance(item, exp.Alias):
            name = item.name if isinstance(item, exp.Column) else item.sql("spark")
            item.replace(exp.alias_(item.copy(), name, quoted=True))


def _argument(call: "exp.Expr") -> "exp.Expr | None":
    """What an aggregate is of (None: it is read otherwise)."""
    from sqlglot import exp

    kinds = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
    if not isinstance(call, kinds) or call.args.get("expressions"):
        return None
    if isinstance(call.parent, exp.Filter | exp.Window):
        return None
    argument = call.this
    if isinstance(argument, exp.Distinct):
        argument = argument.expressions[0] if len(argument.expressions) == 1 else None
    if isinstance(argument, exp.Literal) and isinstance(call, exp.Count):
        argument.replace(exp.Star())
        return exp.Star()
    return argument if isinstance(argument, exp.Expr) else None


def _group_values(select: "exp.Select", values: "tuple[exp.Expr, ...]") -> "exp.Select | None":
    """The groups over a subquery of their values, without what is beside the rows; each value is
    counted besides, which says what the reader calls it."""
    from sqlglot import exp

    place = {value: n for n, value in enumerate(values)}

    def put(node: "exp.Expr") -> "exp.Expr":
        return _column(place[node]) if node in place else node

    made = exp.Select()
    group = select.args.get("group")
    items = [item.transform(put) for item in select.expressions]
    having = None if (h := select.args.get("having")) is None else h.transform(put)
    for node in [*items, *([] if having is None else [having])]:
        if any(c.table != _ROWS for c in node.find_all(exp.Column)):
            return None
    counts = [
        exp.alias_(exp.Count(this=_column(n)), f"{_COUNTED} {n}", quoted=True)
        for n in range(len(values))
    ]
    made.set("expressions", [*items, *counts])
    rows = select.copy()
    plain = [c for c in split_conjuncts(rows.args["where"].this) if not c.find(exp.Query)]
    names = [f"{_VALUE} {n}" for n in range(len(values))]
    inner = _select_rows(rows, place, names)
    inner.set("where", exp.Where(this=exp.and_(*(c.copy() for c in plain))) if plain else None)
    alias = exp.TableAlias(this=exp.to_identifier(_ROWS, quoted=True))
    made.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
    if group is not None:
        made.set("group", exp.Group(expressions=[put(g).copy() for g in group.expressions]))
    made.set("having", having)
    return made


def _column(number: int) -> "exp.Column":
    from sqlglot import exp

    return exp.column(f"{_VALUE} {number}", _ROWS, quoted=True)


def _select_rows(
    select: "exp.Select", values: "Iterable[exp.Expr]", names: list[str]
) -> "exp.Select":
    """The rows, with their values; of no values, with a column that all have."""
    from sqlglot import exp

    made = select.copy()
    for key in ("group", "having"):
        made.set(key, None)
    named = [n for n in names if n]
    shown = [exp.alias_(v.copy(), n, quoted=True) for v, n in zip(values, named, strict=True)]
    if not shown:
        compared = made.args["where"].find_all(exp.Column)
        own = {t.alias_or_name.lower() for t in _tables(made)}
        first = next((c for c in compared if c.table.lower() in own), None)
        shown = [] if first is None else [exp.alias_(first.copy(), f"{_VALUE} 0", quoted=True)]
    made.set("expressions", shown)
    return made


def _tables(select: "exp.Select") -> "list[exp.Expr]":
    joins = select.args.get("joins") or ()
    return [select.args["from_"].this, *(j.this for j in joins)]


def _counted(tree: "exp.Query") -> "exp.Query | None":
    """A query, if it is groups of rows with how often they are answers."""
    from sqlglot import exp

    start = tree.args.get("from_")
    inside = None if start is None else start.this
    if not isinstance(inside, exp.Subquery) or inside.alias != FROM_BOTH:
        return None
    return tree if any(e.alias == MULTIPLICITY for e in tree.selects) else None


def _take(union: SpjUnion, size: int) -> tuple[Aggregation, list[str]]:
    """The groups as they are told, and what they call each value ("": it is not needed)."""
    made = union.aggregation
    assert made is not None
    counted = {a.name: a for a in made.aggregates if a.name.startswith(_COUNTED)}
    found = [counted[f"{_COUNTED} {n}"].argument or "" for n in range(size)]
    outputs = [dict(query.outputs) for query in union.disjuncts]

    def means(variable: str) -> list[str | None]:
        return [_read(of[variable]) for of in outputs]

    first: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for variable in made.variables:
        of = next((f for f in found if f and means(f) == means(variable)), variable)
        renamed[variable] = first.setdefault(of, variable)
    names = [first.pop(f, "") for f in found]  # of values that are always equal one is shown
    rest = tuple(
        replace(a, argument=renamed.get(a.argument or "", a.argument))
        for a in made.aggregates
        if a.name not in counted
    )
    columns = tuple(c for c in made.columns if c not in counted)
    told = replace(made, aggregates=rest, columns=columns)
    return told, [n if n in told.variables else "" for n in names]


def _read(output: Output) -> str | None:
    """The column that is shown (None: none, it is NULL)."""
    return str(output.value) if isinstance(output, LiteralOutput) else None
