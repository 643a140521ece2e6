"""Views as common table expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import Catalog, KeyConstant, Meeting, Relation, Stream
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.blocks.declare_block import AT
from ontoweir.rewriter.earlier.write_windows import print_preceding
from ontoweir.rewriter.model.spj import (
    Absence,
    Attribute,
    Block,
    Compare,
    Constant,
    IriOutput,
    Op,
    SpjQuery,
    SpjUnion,
    TextColumn,
    View,
    ViewBranch,
    ViewColumn,
)
from ontoweir.rewriter.sql.print_condition import (
    needs_quotes,
    print_column,
    print_literal,
    print_output,
)
from ontoweir.rewriter.sql.print_select import name_column, print_select
from ontoweir.rewriter.sql.unite_filters import Selection, list_conjuncts
from ontoweir.rewriter.versions.declare_meeting import ROW, VERSION

if TYPE_CHECKING:
    from sqlglot import exp


def print_views(views: Sequence[View], catalog: Catalog, *, dialect: str, comments: bool) -> str:
    """WITH, and each view as the union of its branches.

    Args:
        views: at least one.
        catalog: the tables, the views among them.
        dialect: a dialect of sqlglot.
        comments: say above each what it is.
    """
    printed = [_print(view, catalog, dialect, comments) for view in views]
    return "WITH " + ",\n".join(printed) + "\n"


def print_statics(statics: Sequence[Relation], *, dialect: str, before: str) -> str:
    """What a query names by WITH, of relations that it makes of static ones, before its text."""
    from sqlglot import parse_one

    named = []
    for relation in statics:
        view = parse_one(relation.data.view or "", dialect="spark")
        text = view.sql(dialect=dialect, pretty=True)
        named.append(f"{relation.name} AS (\n{indent(text, '  ')}\n)")
    rest = f",\n{before[5:]}" if before.startswith("WITH ") else f"\n{before}"
    return "WITH " + ",\n".join(named) + rest


def print_blocks(union: SpjUnion, printed: Callable[[SpjUnion], str], *, dialect: str) -> str:
    """WITH, and each query whose answers are read, with the time when they are final, but for sets
    of which no time is read.

    Args:
        union: reads at least one.
        printed: prints a query.
        dialect: a dialect of sqlglot.

    Raises:
        QueryError: that time follows from no column of the answers.
    """
    from sqlglot import exp

    blocks = union.blocks
    made = []
    timed = set(_list_timed([b.union for b in blocks] + [union]))
    timed |= {b.meeting.base for b in blocks if isinstance(b.meeting, Preceding)}
    for block in blocks:
        if isinstance(block.meeting, Preceding):
            made.append(print_preceding(block, block.meeting, dialect=dialect))
            continue
        if block.meeting is not None:
            made.append(_print_met(block, block.meeting, dialect))
            continue
        is_set = block.union.aggregation is None and block.stream.name not in timed
        if block.time is None and block.absence is None and not is_set:
            raise QueryError(
                f"the time when answers of {block.stream.name} are final is not printed as SQL",
                why="it follows from no column: the bucket is of a calendar, other rows may still "
                "match when it is over, or it is when an answer was found first",
                fix="look at it with --show plan",
                source=block.union.source,
            )
        head = exp.select(exp.Star())
        if block.time is not None:
            column, behind = block.time
            time: exp.Expr = exp.column(exp.to_identifier(column, quoted=needs_quotes(column)))
            if behind:
                micros = exp.Literal.string(str(behind))
                length = exp.Interval(this=micros, unit=exp.Var(this="MICROSECOND"))
                time = exp.Add(this=time, expression=length)
            head = head.select(exp.alias_(time, block.stream.timestamp))
        for missing in (c.name for c in block.stream.columns if c.enum == ()):
            head = head.select(name_column(exp.Null(), missing))  # of an outer join
        shown = head.sql(dialect=dialect, pretty=True)
        body = f"{shown}\nFROM (\n{indent(printed(block.union), '  ')}\n) AS answers"
        if block.absence is not None and block.absence.parts:
            body += "\nWHERE " + "\nAND ".join(_print_parts(block.absence, printed))
        name = block.stream.name
        quoted = f'"{name}"' if needs_quotes(name) else name
        made.append(f"{quoted} AS (\n{indent(body, '  ')}\n)")
    return "WITH " + ",\n".join(made) + "\n"


def _list_timed(unions: Sequence[SpjUnion]) -> Iterator[str]:
    """The tables of which some queries read the times of final answers."""
    for union in unions:
        yield from (table for table, _ in union.buckets)
        for query in union.disjuncts:
            of = {o.alias: o.table for o in query.occurrences}
            for condition in query.conditions:
                if isinstance(condition, Compare):
                    sides = (condition.left, condition.right)
                    read = [a for a in sides if isinstance(a, Attribute)]
                    yield from (of[a.alias] for a in read if a.column == AT)


def _print_met(block: Block, meeting: Meeting, dialect: str) -> str:
    """Rows with the version of their own time: the last one of its key that is not later, or is
    earlier."""
    from sqlglot import exp, parse_one

    def named(name: str) -> str:
        return exp.to_identifier(name, quoted=needs_quotes(name)).sql(dialect=dialect)

    (joined,) = block.union.disjuncts
    base, updates = (named(o.table) for o in joined.occurrences)
    of, time = meeting.versions, named(_time_of(joined, VERSION))
    keys = ", ".join(map(named, of.key))
    order = ", ".join([time, *([] if of.order is None else [named(of.order)])])
    shown = [f"{VERSION}.{named(c)} AS {named(n)}" for c, n in meeting.columns]
    on = []
    for own, column in meeting.key:
        literal = exp.convert(own.value).sql(dialect) if isinstance(own, KeyConstant) else None
        on.append(f"{VERSION}.{named(column)} = {literal or f'{ROW}.{named(str(own))}'}")
    now = f"{ROW}.{named(_time_of(joined, ROW))}"
    before, after = ("<", ">=") if of.earlier else ("<=", ">")
    on.append(f"{VERSION}.{time} {before} {now}")
    on.append(f"({VERSION}.until {after} {now} OR {VERSION}.until IS NULL)")
    if of.delete is not None:
        on.append(f"{VERSION}.{named(of.delete)} IS NOT TRUE")
    partition = f"PARTITION BY {keys} " if keys else ""
    every = f"SELECT *, LEAD({time}) OVER ({partition}ORDER BY {order}) AS until"
    if of.whole:  # all versions end where the next ones begin
        later = (
            f"SELECT MIN(later.{time}) FROM {updates} AS later WHERE later.{time} > every.{time}"
        )
        every, updates = f"SELECT *, ({later}) AS until", f"{updates} AS every"
    where = []
    if of.only is not None:
        only = parse_one(write_expression(of.only), dialect="duckdb")
        where.append(f"  WHERE {only.sql(dialect=dialect)}")
    lines = [
        f"SELECT {', '.join([f'{ROW}.*', *shown])}",
        f"FROM {base} AS {ROW}",
        "LEFT JOIN (" if of.optional else "JOIN (",
        f"  {every}",
        f"  FROM {updates}",
        *where,
        f") AS {VERSION}",
        f"  ON {' AND '.join(on)}",
    ]
    body = "".join(f"  {line}\n" for line in lines)
    return f"{named(block.stream.name)} AS (\n{body})"


def _time_of(joined: SpjQuery, alias: str) -> str:
    """The timestamp of one of the two that are joined."""
    (earlier,) = (
        c
        for c in joined.conditions
        if isinstance(c, Compare) and c.op in (Op.LE, Op.LT) and isinstance(c.right, Attribute)
    )
    assert isinstance(earlier.right, Attribute)
    return next(a.column for a in (earlier.left, earlier.right) if a.alias == alias)


def _print_parts(absence: Absence, printed: Callable[[SpjUnion], str]) -> Iterator[str]:
    """What must be beside an answer, or must not."""
    names = [f'"{n}"' if needs_quotes(n) else n for n in absence.keys]
    equal = " AND ".join(f"beside.{n} IS NOT DISTINCT FROM answers.{n}" for n in names)
    for part in absence.parts:
        word = "EXISTS" if part.present else "NOT EXISTS"
        rows = indent(printed(part.hits), "    ")
        yield f"{word} (\n  SELECT 1\n  FROM (\n{rows}\n  ) AS beside\n  WHERE {equal}\n)"


def _print(view: View, catalog: Catalog, dialect: str, comments: bool) -> str:
    selects = [_branch(view, b, catalog, dialect) for b in view.branches]
    union = "\nUNION\n" if view.distinct else "\nUNION ALL\n"
    body = union.join(selects)
    if view.without:
        body = _except(view, body, catalog, dialect)
    note = f"  -- {' '.join(view.why.split())}\n" if comments and view.why else ""
    name = f'"{view.name}"' if needs_quotes(view.name) else view.name
    return f"{name} AS (\n{note}{indent(body, '  ')}\n)"


def _except(view: View, body: str, catalog: Catalog, dialect: str) -> str:
    """The rows that no static branch has."""
    always = "\nUNION\n".join(_branch(view, b, catalog, dialect) for b in view.without)
    equal = " AND ".join(
        f"made.{name} = always.{name}"
        for name in (f'"{c.name}"' if needs_quotes(c.name) else c.name for c in view.table.columns)
    )
    return (
        f"SELECT *\nFROM (\n{indent(body, '  ')}\n) AS made\nWHERE NOT EXISTS (\n  SELECT 1\n"
        f"  FROM (\n{indent(always, '    ')}\n  ) AS always\n  WHERE {equal or 'TRUE'}\n)"
    )


def _branch(view: View, branch: ViewBranch, catalog: Catalog, dialect: str) -> str:

    types = Types(catalog, branch.occurrences)
    given: list[tuple[str, ViewColumn]] = [
        (declared.name, column)
        for declared, column in zip(view.table.columns, branch.columns, strict=True)
    ]
    kinds = {declared.name: declared.type for declared in view.table.columns}
    if branch.time is not None and isinstance(view.table, Stream):
        given.append((view.table.timestamp, branch.time))
    columns: list[exp.Expr] = []
    for name, column in given:
        match column:
            case Attribute():
                value: exp.Expr = print_column(column)
            case Constant(value=constant):
                value = print_literal(constant, kinds[name], dialect)
            case TextColumn(parts=parts):
                value = print_output(IriOutput(parts), types)
        columns.append(name_column(value, name))
    distinct = view.distinct and len(view.branches) == 1
    selection = Selection(branch.query, list_conjuncts(branch.query, catalog))
    tree = print_select(selection, columns, catalog, distinct=distinct, dialect=dialect)
    return tree.sql(dialect=dialect, pretty=True, copy=False)
