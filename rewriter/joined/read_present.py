"""EXISTS, IN and their negations, of rows that come and go, as parts of a join."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.aggregates.nest_scalars import split_keys
from ontoweir.rewriter.joined.part import Part, list_changing, list_part, list_static
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.model.joined import JoinKind

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Present:
    """A `part` of which a row must be there, or none, where what is `said` holds."""

    part: Part
    said: "list[exp.Expr]"


def read_present(
    condition: "exp.Expr",
    taken: Collection[str],
    parts: Sequence[Part],
    catalog: Catalog,
    *,
    static: bool,
) -> Present | None:
    """EXISTS (SELECT … FROM s WHERE …), x IN (SELECT y FROM s WHERE …), NOT EXISTS, and NOT IN of
    columns that are never NULL (None: it is something else).

    Args:
        condition: of WHERE.
        taken: the names, in lower case, that tables around it have.
        parts: those of the query around it.
        catalog: the tables.
        static: rows of static relations are read too.
    """
    from sqlglot import exp

    inner = condition.unnest()
    negated = isinstance(inner, exp.Not)
    inner = inner.this.unnest() if negated else inner
    query = inner.this if isinstance(inner, exp.Exists) else inner.args.get("query")
    if not isinstance(inner, (exp.Exists, exp.In)) or query is None:
        return None
    select = query.unnest()
    if not isinstance(select, exp.Select):
        return None
    if aggregates(select):
        return _read_groups(inner, select, (taken, parts), catalog, negated=negated)
    read = {"expressions", "from_", "where", "distinct"}
    if {k for k, v in select.args.items() if v} - read or select.args.get("from_") is None:
        return None
    item = select.copy().args["from_"].this
    part = list_part(item, catalog) or list_changing(item, catalog)
    part = list_static(item, catalog) if part is None and static else part
    if part is None:
        return None
    where, old = select.args.get("where"), part.alias.lower()
    said = [] if where is None else [c.copy() for c in split_conjuncts(where.this)]
    if any(c.find(exp.Query) for c in said):
        return None
    if old in taken:
        part.alias = next(f"{part.alias} {n}" for n in range(2, 99) if f"{old} {n}" not in taken)
        part.item.set("alias", exp.TableAlias(this=exp.to_identifier(part.alias, quoted=True)))
    if isinstance(inner, exp.In):
        pairs = _pair(inner, select)
        if pairs is None or (negated and not _have_values(pairs, part, parts)):
            return None
        said += [exp.EQ(this=_name(two, part, old), expression=one) for one, two in pairs]
    said = [_name(c, part, old) for c in said]
    part.kind = JoinKind.ABSENT if negated else JoinKind.PRESENT
    return Present(part, said)


def _read_groups(
    inner: "exp.Expr",
    select: "exp.Select",
    around: tuple[Collection[str], Sequence[Part]],
    catalog: Catalog,
    *,
    negated: bool,
) -> Present | None:
    """Groups of rows in windows: x IN (SELECT k … GROUP BY k HAVING …), EXISTS (SELECT … WHERE
    k = x GROUP BY k HAVING …), NOT EXISTS, and NOT IN of columns that are never NULL."""
    from sqlglot import exp

    taken, parts = around
    made, keys = select.copy(), list[exp.Expr]()
    if isinstance(inner, exp.In):
        value = inner.this.unnest()
        keys = list(value.expressions) if isinstance(value, exp.Tuple) else [value]
        if len(keys) != len(made.expressions):
            return None
        items = [e.unalias() for e in made.expressions]
    else:
        split = split_keys(made, catalog)
        if split is None:
            return None
        items, keys = split
    shown = [exp.alias_(e.copy(), f"key {n}", quoted=True) for n, e in enumerate(items)]
    made.set("expressions", shown)
    name = next(f"present {n}" for n in range(99) if f"present {n}" not in taken)
    part = list_changing(made.subquery(exp.to_identifier(name, quoted=True)), catalog)
    columns = [(k, exp.column(f"key {n}")) for n, k in enumerate(keys) if isinstance(k, exp.Column)]
    if part is None or len(columns) < len(keys):
        return None
    if negated and isinstance(inner, exp.In) and not _have_values(columns, part, parts):
        return None  # with NULL among them, NOT IN would hold of no row
    part.kind = JoinKind.ABSENT if negated else JoinKind.PRESENT
    return Present(
        part,
        [
            exp.EQ(this=exp.column(f"key {n}", name, quoted=True), expression=key.copy())
            for n, key in enumerate(keys)
        ],
    )


def _pair(inner: "exp.In", select: "exp.Select") -> "list[tuple[exp.Column, exp.Column]] | None":
    """The columns that IN compares, of the row and of the subquery."""
    from sqlglot import exp

    value = inner.this.unnest()
    mine = value.expressions if isinstance(value, exp.Tuple) else [value]
    theirs = [e.unalias() for e in select.expressions]
    if len(mine) != len(theirs):
        return None
    pairs = [(a.copy(), b.copy()) for a, b in zip(mine, theirs, strict=True)]
    if not all(isinstance(c, exp.Column) and not c.is_star for pair in pairs for c in pair):
        return None
    return pairs


def _have_values(
    pairs: "Sequence[tuple[exp.Column, exp.Column]]", part: Part, parts: Sequence[Part]
) -> bool:
    """Whether columns of both sides are never NULL: else NOT IN would hold of no row."""
    for mine, theirs in pairs:
        found = [
            p
            for p in parts
            if mine.table.lower() in ("", p.alias.lower()) and mine.name.lower() in p.names
        ]
        if len(found) != 1 or found[0].kind is not JoinKind.INNER:
            return False
        if found[0].names[mine.name.lower()] not in found[0].sure:
            return False
        if part.names.get(theirs.name.lower()) not in part.sure:
            return False
    return True


def _name(condition: "exp.Expr", part: Part, old: str) -> "exp.Expr":
    """A condition within a subquery, whose own columns say of which part they are."""
    from sqlglot import exp

    made = condition.copy()
    for column in [made] if isinstance(made, exp.Column) else list(made.find_all(exp.Column)):
        mine = column.table.lower() == old or (
            not column.table and column.name.lower() in part.names
        )
        if mine:
            column.set("table", exp.to_identifier(part.alias, quoted=True))
    return made
