"""The query of a part of a join."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.differences.since_first import since_first
from ontoweir.rewriter.joined.part import Part
from ontoweir.rewriter.joined.place_registers import join_registers
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.latest.number_around import number_around

if TYPE_CHECKING:
    from sqlglot import exp


def write_part(part: Part, catalog: Catalog) -> "exp.Select":
    """The query of a part's rows, of the columns that are needed."""
    from sqlglot import exp

    alias = exp.TableAlias(this=exp.to_identifier(part.alias, quoted=True))
    wanted = part.wanted or list(part.names.values())[:1]
    of = {r.column(n): (r.alias, n) for r in part.registers for n in r.names.values()}
    read = [(n, *of.get(n, (part.alias, n))) for n in wanted]
    items = [exp.alias_(exp.column(c, a, quoted=True), n, quoted=True) for n, a, c in read]
    if isinstance(part.item, exp.Table):
        table = part.item.copy()
        table.set("alias", alias)
        made = exp.Select(expressions=items, from_=exp.From(this=table))
        if part.streams:
            made = since_first(made, part.streams, catalog)
        made = join_registers(made, part.registers)
        return made.where(*part.said, copy=False) if part.said else made
    inner: exp.Select = part.item.this.copy()
    if part.apart:
        return _write_groups(part, inner, of)
    if not part.said and not part.registers and _shows(inner, wanted):
        return inner
    made = exp.Select(expressions=items, from_=exp.From(this=inner.subquery(part.alias)))
    below = inner.args["from_"].this if inner.args.get("from_") is not None else None
    left = any(r.left for r in part.registers)
    made = number_around(made) if isinstance(below, exp.Table) and not left else made
    if inner.args.get("qualify") is None:
        rows, limits = _open_numbers(inner, part.alias)
        made.set("from_", exp.From(this=rows.subquery(part.alias)))
        made = made.where(*limits, copy=False) if limits else made
    made = join_registers(made, part.registers)
    return made.where(*part.said, copy=False) if part.said else made


def _write_groups(
    part: Part, inner: "exp.Select", of: "dict[str, tuple[str, str]]"
) -> "exp.Select":
    """Groups, of which all columns are shown, and those of registers that are needed (`of`)."""
    from sqlglot import exp

    if not part.said and not part.registers:
        return inner
    read = [(n, part.alias, n) for n in part.names.values()]
    read += [(n, *of[n]) for n in part.wanted if n in of]
    items = [exp.alias_(exp.column(c, a, quoted=True), n, quoted=True) for n, a, c in read]
    made = exp.Select(expressions=items, from_=exp.From(this=inner.subquery(part.alias)))
    made = join_registers(made, part.registers)
    return made.where(*part.said, copy=False) if part.said else made


def _shows(select: "exp.Select", wanted: "list[str]") -> bool:
    """Whether its columns are known, those that are wanted among them."""
    shown = [e.alias_or_name for e in select.expressions if not e.is_star]
    return len(shown) == len(select.expressions) and set(wanted) <= set(shown)


def _open_numbers(inner: "exp.Select", alias: str) -> "tuple[exp.Select, list[exp.Expr]]":
    """Rows with their number, of which a SELECT says which are asked for, and that, said around
    them; else the rows as they are."""
    from sqlglot import exp

    start = inner.args.get("from_")
    below = None if start is None else start.this
    where = inner.args.get("where")
    plain = {k for k, v in inner.args.items() if v} <= {"expressions", "from_", "where"}
    if not plain or where is None or not isinstance(below, exp.Subquery):
        return inner, []
    rows = below.this
    if not isinstance(rows, exp.Select) or not all(_is_own(e) for e in inner.expressions):
        return inner, []
    said = [c.copy() for c in split_conjuncts(where.this)]
    for column in (c for one in said for c in one.find_all(exp.Column)):
        column.set("table", exp.to_identifier(alias, quoted=True))
    return rows.copy(), said


def _is_own(item: "exp.Expr") -> bool:
    """Whether it is a column by its own name, or all."""
    from sqlglot import exp

    return item.is_star or (isinstance(item, exp.Column) and not item.args.get("alias"))
