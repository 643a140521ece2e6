"""Take from a SELECT what says that rows beside its own are there, or are not."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.is_set import aggregates

if TYPE_CHECKING:
    from sqlglot import exp


class PartKind(StrEnum):
    """`ABSENT`: no row of the part is beside a row of the SELECT; `PRESENT`: one is."""

    ABSENT = "absent"
    PRESENT = "present"


@dataclass(frozen=True, slots=True)
class Part:
    """Rows beside those of a SELECT: of any of several SELECTs, in whose conditions the columns
    around them occur. `compared`: of NOT IN, for each of them, what is looked for, and what a row
    shows (None: it is no NOT IN)."""

    kind: PartKind
    rows: "tuple[exp.Select, ...]"
    compared: "tuple[tuple[exp.Expr, exp.Expr], ...] | None" = None


def find_absence(select: "exp.Select") -> "tuple[exp.Select, tuple[Part, ...]]":
    """A SELECT without its EXISTS, IN (SELECT …), SEMI and ANTI joins, and these.

    Raises:
        SqlRefusal: one is inside of OR, or of an expression.
    """
    from sqlglot import exp

    select = select.copy()
    parts: list[Part] = []
    kept: list[exp.Expr] = []
    for join in select.args.get("joins") or ():
        kind = str(join.args.get("kind") or "").upper()
        if kind not in ("SEMI", "ANTI"):
            kept.append(join)
            continue
        parts.append(_read_join(join, PartKind.ABSENT if kind == "ANTI" else PartKind.PRESENT))
    select.set("joins", kept)
    where = select.args.get("where")
    if where is not None:
        rest = []
        for conjunct in split_conjuncts(where.this):
            part = _read_conjunct(conjunct)
            if part is None:
                rest.append(conjunct)
            else:
                parts.append(part)
        select.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
    return select, tuple(parts)


def has_absence(tree: "exp.Expr") -> bool:
    """Whether a query, or a query inside it, says that rows are there, or are not."""
    return any(map(_is_absence, tree.walk()))


def absence_of(select: "exp.Select") -> bool:
    """Whether a SELECT itself says so, in a condition or a join of its own."""
    from sqlglot import exp

    places = [select.args.get("where"), *(select.args.get("joins") or ())]
    for place in places:
        if place is None:
            continue
        inside = place.this if isinstance(place, exp.Join) else None
        for node in place.walk(prune=lambda n, i=inside: n is i):
            if node is not inside and _is_absence(node):
                return True
    return False


def _is_absence(node: "exp.Expr") -> bool:
    from sqlglot import exp

    if isinstance(node, exp.Join):
        return bool(node.args.get("side")) or _is_filter(node)
    searched = isinstance(node, exp.In) and node.args.get("query") is not None
    return searched or isinstance(node, exp.Exists)


def _is_filter(join: "exp.Expr") -> bool:
    return str(join.args.get("kind") or "").upper() in ("SEMI", "ANTI")


def split_conjuncts(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    """What must hold all together."""
    from sqlglot import exp

    inner = tree.unnest()
    if isinstance(inner, exp.And):
        yield from split_conjuncts(inner.this)
        yield from split_conjuncts(inner.expression)
    else:
        yield inner


def _read_conjunct(tree: "exp.Expr") -> Part | None:
    from sqlglot import exp

    negated, inner = False, tree
    while isinstance(inner, (exp.Not, exp.Paren)):
        negated ^= isinstance(inner, exp.Not)
        inner = inner.this
    kind = PartKind.ABSENT if negated else PartKind.PRESENT
    if isinstance(inner, exp.Exists):
        return Part(kind, tuple(_list_selects(inner.this)))
    query = inner.args.get("query") if isinstance(inner, exp.In) else None
    if query is None:
        _refuse_inside(tree)
        return None
    selects = tuple(_list_selects(query))
    pairs = []
    for select in selects:
        if len(select.expressions) != 1 or isinstance(inner.this, exp.Tuple):
            raise SqlRefusal(
                "IN with several columns",
                why="one column is looked for among those of another",
                fix="write EXISTS (SELECT 1 FROM … WHERE … AND …)",
                line=line_of(inner) or line_of(select),
            )
        pairs.append((inner.this, select.expressions[0].unalias()))
    if not negated:  # a NULL equals nothing, and makes nothing true
        for select, (left, right) in zip(selects, pairs, strict=True):
            _add_condition(select, exp.EQ(this=right.copy(), expression=left.copy()))
        return Part(kind, selects)
    return Part(kind, selects, tuple(pairs))


def _add_condition(select: "exp.Select", condition: "exp.Expr") -> None:
    from sqlglot import exp

    where = select.args.get("where")
    both = [condition] if where is None else [where.this, condition]
    select.set("where", exp.Where(this=exp.and_(*both, copy=False)))


def _refuse_inside(tree: "exp.Expr") -> None:
    """Raise SqlRefusal for EXISTS and IN where they are not a condition that must hold."""
    from sqlglot import exp

    for node in tree.find_all(exp.Exists, exp.In, exp.Select):
        if isinstance(node, exp.In) and node.args.get("query") is None:
            continue
        raise SqlRefusal(
            f"{'a subquery' if isinstance(node, exp.Select) else type(node).__name__.upper()} "
            "inside of OR, or of an expression",
            why="each EXISTS, NOT EXISTS, IN and NOT IN is a condition that every answer meets",
            fix="write a UNION ALL of parts that exclude each other, each with its own condition; "
            "of columns that are not NULL, write NOT EXISTS (SELECT 1 FROM t WHERE t.c = x) for x "
            "NOT IN (SELECT c FROM t), which may stand there",
            line=line_of(node) or line_of(tree),
        )


def _list_selects(tree: "exp.Expr") -> "Iterator[exp.Select]":
    """The SELECTs of a subquery of which it is only asked whether it has rows."""
    from sqlglot import exp

    if isinstance(tree, (exp.Subquery, exp.Paren)):
        yield from _list_selects(tree.this)
    elif isinstance(tree, exp.Union):
        yield from _list_selects(tree.this)
        yield from _list_selects(tree.expression)
    elif not isinstance(tree, exp.Select):
        raise _refuse_rows(tree, type(tree).__name__.upper())
    else:
        for key in ("with_", "with", "limit", "offset", "group", "having", "qualify"):
            if tree.args.get(key):
                raise _refuse_rows(tree, key.strip("_").upper())
        if aggregates(tree):
            raise _refuse_rows(tree, "an aggregate")
        made = tree.copy()
        made.set("distinct", None)
        yield made


def _refuse_rows(tree: "exp.Expr", what: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} in a subquery of EXISTS or IN",
        why="such a subquery is SELECT … FROM tables and joins WHERE comparisons",
        fix="write it in FROM, or with WITH before the query, and read it here",
        line=line_of(tree),
    )


def _read_join(join: "exp.Expr", kind: PartKind) -> Part:
    """The part that a join is; its item is not of FROM."""
    from sqlglot import exp

    if join.args.get("using"):
        raise SqlRefusal(
            f"{kind.upper()} JOIN … USING".replace("ABSENT", "ANTI").replace("PRESENT", "SEMI"),
            why="the columns of the joined table are no columns of the query",
            fix="write JOIN … ON",
            line=line_of(join),
        )
    rows = exp.Select(expressions=[exp.Literal.number(1)]).from_(join.this.copy())
    if (on := join.args.get("on")) is not None:
        rows.set("where", exp.Where(this=on.copy()))
    return Part(kind, (rows,))
