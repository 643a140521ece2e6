"""EXISTS, and IN of a subquery, inside of OR and of expressions: parts that exclude each other."""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.reshaped.compute_constant import compute_constant
from ontoweir.rewriter.reshaped.widen_unions import widen_unions

if TYPE_CHECKING:
    from sqlglot import exp

_MOST = 3
"""So many that differ are split in one SELECT: into eight parts."""
_PLAIN = {"kind", "expressions", "from_", "joins", "where", "group", "having", "distinct"}


def split_exists(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in which each EXISTS, NOT EXISTS, IN and NOT IN is a condition that all answers of
    its SELECT meet: `WHERE a OR EXISTS (q)` is `WHERE EXISTS (q)` UNION ALL
    `WHERE a AND NOT EXISTS (q)`, and `EXISTS (q)` in SELECT is TRUE in one part and FALSE in the
    other. Groups are of a subquery of the parts. What cannot be split so stays as it is.

    EXISTS is true or false. IN may be neither: it is split where what is not true counts as false,
    in WHERE below AND and OR alone. What the ON of an inner join says with one of them is said in
    WHERE.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        _move_exists(select)
        _name_counts(select)
        found = _list_inside(select)
        made = _split(select, catalog) if found and _can_split(select, found, catalog) else None
        if made is None:
            _refuse_values(select, found)
        elif select is tree:
            tree = made
        else:
            select.replace(made)
    return tree


def _move_exists(select: "exp.Select") -> None:
    """Say in WHERE what the ON of an inner join says with EXISTS, or IN of a subquery."""
    from sqlglot import exp

    for join in select.args.get("joins") or ():
        said = join.args.get("on")
        kind = str(join.args.get("kind") or "").upper()
        if said is None or join.args.get("side") or kind not in ("", "INNER", "CROSS"):
            continue
        conjuncts = list(split_conjuncts(said))
        moved = [c for c in conjuncts if any(map(_asks, c.find_all(exp.Exists, exp.In)))]
        if moved:
            rest = [c.copy() for c in conjuncts if c not in moved]
            join.set("on", exp.and_(*rest) if rest else exp.true())
            select.where(*(c.copy() for c in moved), copy=False)


def _name_counts(select: "exp.Select") -> None:
    """Say `COUNT_IF(c)` for `COUNT(*) FILTER (WHERE c)` with one of them in c."""
    from sqlglot import exp

    for node in select.find_all(exp.Filter):
        call, said = node.this, node.expression.this
        counts = isinstance(call, exp.Count) and isinstance(call.this, (exp.Star, exp.Literal))
        if counts and any(map(_asks, said.find_all(exp.Exists, exp.In))):
            node.replace(exp.CountIf(this=said.copy()))


def _can_split(select: "exp.Select", found: "list[exp.Expr]", catalog: Catalog) -> bool:
    """Whether few are found, in what is a plain SELECT; IN is EXISTS after it."""
    from sqlglot import exp

    if len({n.sql() for n in found}) > _MOST or {k for k, v in select.args.items() if v} - _PLAIN:
        return False
    cases = (c for e in select.expressions for c in e.find_all(exp.Case))
    if any(c.args.get("default") is None and c.find(exp.Exists) for c in cases):
        return False
    return all(not isinstance(n, exp.In) or _widen(n, select, catalog) for n in found)


def _refuse_values(select: "exp.Select", found: "list[exp.Expr]") -> None:
    """Raise SqlRefusal for those in SELECT that stay there."""
    from sqlglot import exp

    for node in found:
        if node.find_ancestor(exp.Where) is None:
            raise SqlRefusal(
                f"{type(node).__name__.upper()} of a subquery in SELECT",
                why="it is read in SELECT without groups, and in an aggregate with GROUP BY, where "
                "each CASE around it has an ELSE: as a query for the rows beside which others are, "
                "and one for the rest",
                fix="write CASE WHEN EXISTS (…) THEN … ELSE … END, without GROUP BY, or in SUM and "
                "COUNT_IF; or aggregate in a query of its own, with WHERE EXISTS (…)",
                line=line_of(select),
            )


def _list_inside(select: "exp.Select") -> "list[exp.Expr]":
    """The EXISTS, and IN of a subquery, of a SELECT that are no conditions by themselves."""
    from sqlglot import exp

    where = select.args.get("where")
    conditions = [] if where is None else list(where.this.flatten()) if _is_and(where) else [where]
    parts = [c for c in conditions if not _stands(c)]
    found = (n for p in (*select.expressions, *parts) for n in p.find_all(exp.Exists, exp.In))
    return [n for n in found if _asks(n) and n.find_ancestor(exp.Select) is select]


def _is_and(where: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(where.this, exp.And)


def _asks(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Exists) or node.args.get("query") is not None


def _stands(condition: "exp.Expr") -> bool:
    """Whether it is one of them by itself, or its negation."""
    from sqlglot import exp

    while isinstance(condition, (exp.Paren, exp.Not, exp.Where)):
        condition = condition.this
    return isinstance(condition, (exp.Exists, exp.In)) and _asks(condition)


def _widen(node: "exp.Expr", select: "exp.Select", catalog: Catalog) -> bool:
    """`EXISTS (SELECT … WHERE c = x)` in the place of `x IN (SELECT c …)`, if what is not true
    counts as false there; whether it does."""
    from sqlglot import exp

    around = node.parent
    while isinstance(around, (exp.Paren, exp.And, exp.Or)):
        around = around.parent
    inner = node.args["query"].unnest()
    if around is not select.args.get("where") or not isinstance(inner, exp.Select):
        return False
    plain = not {k for k, v in inner.args.items() if v} - {"expressions", "from_", "joins", "where"}
    column = node.this.unnest()
    if not plain or len(inner.expressions) != 1 or not isinstance(column, exp.Column):
        return False
    try:
        alias = list_tables(select, catalog).resolve(column.table or None, column.name).alias
        list_tables(inner, catalog)
    except SqlRefusal:
        return False
    if alias.lower() in (t.alias_or_name.lower() for t in inner.find_all(exp.Table)):
        return False
    left = exp.column(column.this.copy(), table=alias)
    equal = exp.EQ(this=inner.expressions[0].unalias().copy(), expression=left)
    made = inner.copy().where(equal, copy=False)
    made.set("expressions", [exp.Literal.number(1)])
    node.replace(exp.Exists(this=made))
    return True


def _split(select: "exp.Select", catalog: Catalog) -> "exp.Query | None":
    """The parts of a SELECT, together; None: it groups what cannot be named apart."""
    from sqlglot import exp

    read_by_groups = _is_grouped_around(select)
    groups = select.args.get("group") or any(e.find(exp.AggFunc) for e in select.expressions)
    outer: exp.Select | None = None
    if groups or select.args.get("having"):
        select, asked = _take_arguments(select)
        if any(n.find_ancestor(exp.Where) is None for n in _list_inside(select)):
            return None
        try:
            outer, select = _group_outside(select, catalog)
        except SqlRefusal:
            return None
        for name, argument in asked.items():
            for mark in [n for n in outer.find_all(exp.Literal) if n.name == name]:
                mark.replace(exp.column(name, table="parts", quoted=True))
            select.append("expressions", exp.alias_(argument, name, quoted=True))
    distinct = bool(select.args.get("distinct"))
    parts = list(_list_parts(select))
    if outer is None and read_by_groups:
        for part in parts:
            _vary_values(part, catalog)
    if not parts:
        return None
    made: exp.Query = parts[0]
    for part in parts[1:]:
        part.set("distinct", None)
        parts[0].set("distinct", None)
        made = exp.Union(this=made, expression=part, distinct=distinct)
    made = widen_unions(made, catalog)  # the branches of CASE have one type
    if outer is None:
        return made
    outer.set("from_", exp.From(this=exp.Subquery(this=made, alias=_name("parts"))))
    return outer


def _is_grouped_around(select: "exp.Select") -> bool:
    """Whether a SELECT of FROM is read by groups."""
    from sqlglot import exp

    item = select.parent
    reader = item.parent_select if isinstance(item, exp.Subquery) else None
    if reader is None:
        return False
    return bool(reader.args.get("group")) or any(e.find(exp.AggFunc) for e in reader.expressions)


def _vary_values(part: "exp.Select", catalog: Catalog) -> None:
    """Compute TRUE and FALSE of a part of a column, which groups tell apart; in place."""
    from sqlglot import exp

    tables = list_tables(part, catalog).tables
    plain = [(a, c.name) for a, t in tables.items() for c in t.columns]
    for item in list(part.expressions) if plain else []:
        value = item.unalias()
        if isinstance(value, exp.Boolean):
            alias, name = plain[0]
            made = compute_constant(value, exp.column(name, alias, quoted=True))
            item.replace(exp.alias_(made, item.alias_or_name or "value", quoted=True))


def _take_arguments(select: "exp.Select") -> "tuple[exp.Select, dict[str, exp.Expr]]":
    """A SELECT of groups with a text in the place of each argument of an aggregate that asks
    whether something is there, and these; the number of rows that it is beside is a sum."""
    from sqlglot import exp

    made, asked = select.copy(), dict[str, exp.Expr]()
    if not made.args.get("group"):  # of no rows a sum is NULL, and a number 0
        return made, asked
    for item in list(made.expressions):
        if not isinstance(item, (exp.Alias, exp.Column)) and item.find(exp.Exists):
            item.replace(exp.alias_(item.copy(), item.sql("spark"), quoted=True))
    for call in list(made.find_all(exp.CountIf, exp.Sum, exp.Min, exp.Max, exp.Avg)):
        if call.find_ancestor(exp.Select) is not made or not call.find(exp.Exists):
            continue
        if isinstance(call, exp.CountIf):
            one, none = exp.Literal.number(1), exp.Literal.number(0)
            total = exp.Sum(
                this=exp.Case(ifs=[exp.If(this=call.this.copy(), true=one)], default=none)
            )
            call.replace(total)
            call = total
        name = f"what is asked {len(asked) + 1}"
        asked[name] = call.this.copy()
        call.set("this", exp.Literal.string(name))
    return made, asked


def _list_parts(select: "exp.Select") -> "list[exp.Select]":
    """One SELECT for each choice of which of them hold, unless its condition is false then."""
    from sqlglot import exp

    parts = []
    texts = list(dict.fromkeys(n.sql() for n in _list_inside(select)))
    for choice in product((True, False), repeat=len(texts)):
        part = select.copy()
        inside = _list_inside(part)
        held = {n.sql(): n.copy() for n in inside}
        for node in inside:
            node.replace(exp.Boolean(this=choice[texts.index(node.sql())]))
        part.set("expressions", [_settle(e) for e in part.expressions])
        where = part.args.get("where")
        known = None if where is None else _settle(where.this)
        if isinstance(known, exp.Boolean):
            if not known.this:
                continue
            known = None
        asked = zip(texts, choice, strict=True)
        both = [held[t] if yes else exp.Not(this=held[t]) for t, yes in asked]
        both = both if known is None else [known, *both]
        part.set("where", exp.Where(this=exp.and_(*both, copy=False)))
        parts.append(part)
    return parts


def _settle(tree: "exp.Expr") -> "exp.Expr":
    """An expression without TRUE and FALSE where they decide it."""
    from sqlglot import exp

    def settled(node: "exp.Expr") -> "exp.Expr":
        match node:
            case exp.And() | exp.Or():
                wins = isinstance(node, exp.Or)
                for side, other in ((node.this, node.expression), (node.expression, node.this)):
                    inner = side.unnest()
                    if isinstance(inner, exp.Boolean):
                        return inner if bool(inner.this) is wins else other
            case exp.Not(this=inner) if isinstance(inner.unnest(), exp.Boolean):
                return exp.Boolean(this=not inner.unnest().this)
            case exp.Paren(this=exp.Boolean() | exp.Paren() as inner):
                return inner
            case exp.Case() if node.this is None:
                return _choose(node)
        return node

    return _from_below(tree, settled)


def _from_below(tree: "exp.Expr", change: "Callable[[exp.Expr], exp.Expr]") -> "exp.Expr":
    for child in list(tree.iter_expressions()):
        made = _from_below(child, change)
        if made is not child:
            child.replace(made)
    return change(tree)


def _choose(case: "exp.Case") -> "exp.Expr":
    """CASE without branches that are not taken."""
    from sqlglot import exp

    kept: list[exp.Expr] = []
    for branch in case.args["ifs"]:
        test = branch.this.unnest()
        if isinstance(test, exp.Boolean) and not test.this:
            continue
        if isinstance(test, exp.Boolean) and not kept:
            value: exp.Expr = branch.args["true"]
            return value
        kept.append(branch)
    if not kept:
        default: exp.Expr = case.args.get("default") or exp.Null()
        return default
    case.set("ifs", kept)
    return case


def _group_outside(select: "exp.Select", catalog: Catalog) -> "tuple[exp.Select, exp.Select]":
    """A SELECT of groups over a subquery that is to come, and that subquery: the columns which the
    groups and aggregates read."""
    from sqlglot import exp

    scope = list_tables(select, catalog)
    outer, inner = select.copy(), select.copy()
    outer.set("where", None)
    outer.set("joins", None)
    given = {e.alias.lower() for e in select.expressions if e.alias}
    names: dict[tuple[str, str], str] = {}
    for key in ("expressions", "group", "having"):
        held = outer.args.get(key)
        for tree in [] if held is None else held if isinstance(held, list) else [held]:
            for column in list(tree.find_all(exp.Column)):
                if not column.table and column.name.lower() in given and key != "expressions":
                    continue
                found = scope.resolve(column.table or None, column.name)
                place = (found.alias, found.column)
                taken = {*names.values()} - {names.get(place, "")}
                name = found.column if found.column not in taken else "_".join(place)
                name = names.setdefault(place, name)
                shown = exp.column(name, table="parts")
                alone = column.parent is outer and not column.alias
                column.replace(exp.alias_(shown, column.name) if alone else shown)
    items = [exp.alias_(exp.column(c, table=a), n) for (a, c), n in names.items()]
    inner.set("expressions", items or [exp.alias_(exp.Literal.number(1), "one")])
    for key in ("group", "having", "distinct"):
        inner.set(key, None)
    return outer, inner


def _name(text: str) -> "exp.TableAlias":
    from sqlglot import exp

    return exp.TableAlias(this=exp.to_identifier(text))
