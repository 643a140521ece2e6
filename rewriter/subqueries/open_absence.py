"""A SELECT with EXISTS, IN (SELECT …), SEMI, ANTI and LEFT joins, as SELECTs over the answers of
one without them beside which rows are there, or are not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import (
    Scope,
    SqlRefusal,
    column_names,
    find_name,
    find_table,
)
from ontoweir.rewriter.calendar.by_bucket import find_bucketed
from ontoweir.rewriter.joins.absence_trees import TIME, AbsenceTrees, Opening
from ontoweir.rewriter.joins.find_absence import (
    Part,
    PartKind,
    absence_of,
    find_absence,
    split_conjuncts,
)
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.split_outer import reads, split_full, split_outer, turn_outer
from ontoweir.rewriter.subqueries.column_names import (
    ColumnNames,
    columns_around,
    columns_of,
    free_name,
    name_text,
    substitute,
)
from ontoweir.rewriter.subqueries.join_inner import list_items
from ontoweir.rewriter.subqueries.open_part import join_rows, open_part
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def open_absence(select: "exp.Select", work: Opening) -> "list[exp.Select]":
    """The SELECT as SELECTs over tables, whose rows are its own together.

    Raises:
        SqlRefusal: what it says is never final, or is outside the language.
    """
    if aggregates(select):
        select = select.copy()
        _name_results(select, work)
    full = split_full(select)
    if full is not None:
        left, right, first, second = full
        work = replace(work, nullable=work.nullable | {first, second})
        return [*open_absence(left, work), *_open(right, work, (first,))]
    select = turn_outer(select)
    outer = split_outer(select, _declared(select, work))
    if outer is None:
        return _open(select, work, ())
    inner, without = outer.inner, outer.without
    if without is not None:
        work = replace(work, nullable=work.nullable | {outer.alias})
    made = [] if inner is None else _continue(inner, work)
    made += [] if without is None else _open(without, work, (outer.alias,))
    if not made:
        raise SqlRefusal(
            "a LEFT JOIN without rows",
            why="its conditions exclude each other",
            fix="remove one of them",
            line=line_of(select),
        )
    return made


def _declared(select: "exp.Select", work: Opening) -> Scope:
    """The declared tables of FROM: not what WITH calls like one."""
    scope = list_tables(select, work.catalog())
    items = {i.alias_or_name: i.name.lower() for i in list_items(select)}
    tables = {a: t for a, t in scope.tables.items() if items[a] not in work.named}
    return Scope(scope.catalog, tables)


def _continue(select: "exp.Select", work: Opening) -> "list[exp.Select]":
    return open_absence(select, work) if absence_of(select) else work.flatten(select, work.is_set)


def _open(select: "exp.Select", work: Opening, missing: tuple[str, ...]) -> "list[exp.Select]":
    """A SELECT where the columns of some aliases are NULL (which its ANTI JOINs have)."""
    outer = split_outer(select, _declared(select, work))
    if outer is not None:
        inner, without = outer.inner, outer.without
        if without is not None:
            work = replace(work, nullable=work.nullable | {outer.alias})
        made = [] if inner is None else _open(inner, work, missing)
        made += [] if without is None else _open(without, work, (*missing, outer.alias))
        return made
    positive, parts = find_absence(_lift_conditions(select))
    _refuse_missing(parts, missing, select)
    if work.is_set:
        several = []
        for part in parts:
            if part.kind is PartKind.PRESENT and len(part.rows) == 1:
                positive, _ = join_rows(positive, part.rows, work)
            else:
                several.append(part)
        parts = tuple(several)
    return _read(positive, parts, missing, work) if parts else _continue(positive, work)


def _lift_conditions(select: "exp.Select") -> "exp.Select":
    """What ON of an inner join says of subqueries, in WHERE."""
    from sqlglot import exp

    made = select.copy()
    for join in made.args.get("joins") or ():
        on, kind = join.args.get("on"), str(join.args.get("kind") or "").upper()
        if on is None or join.args.get("side") or kind not in ("", "INNER", "CROSS"):
            continue
        said = [c for c in split_conjuncts(on) if c.find(exp.Query) is not None]
        rest = [c.copy() for c in split_conjuncts(on) if c.find(exp.Query) is None]
        if said:
            made.where(*(c.copy() for c in said), copy=False)
            join.set("on", exp.and_(*rest) if rest else exp.true())
    return made


def _refuse_missing(parts: Sequence[Part], missing: Sequence[str], select: "exp.Select") -> None:
    joined = {
        j.this.alias_or_name.lower(): j
        for j in select.args.get("joins") or ()
        if j.this.alias_or_name in missing
    }
    for part in parts:
        for rows in part.rows:
            own = {i.alias_or_name.lower() for i in list_items(rows)}
            for alias in missing:
                if alias.lower() not in own and reads(rows, alias):
                    raise SqlRefusal(
                        f"a condition on columns of {alias}, which a LEFT JOIN makes NULL",
                        why="EXISTS, IN and further outer joins read what is always there",
                        fix="write a UNION ALL of the rows with a partner and of the others",
                        line=line_of(rows) or line_of(joined.get(alias.lower(), select)),
                    )


def _read(
    positive: "exp.Select",
    parts: Sequence[Part],
    missing: Sequence[str],
    work: Opening,
) -> "list[exp.Select]":
    """A SELECT over the stream of the rows beside which the parts are there, or not."""
    from sqlglot import exp

    inside = {i.alias_or_name.lower() for i in list_items(positive)}
    needed = ColumnNames(inside)
    positive, windows = _take_windows(positive, inside)
    outer = positive.copy()
    outer.set("joins", None)
    outer.set("where", exp.Where(this=exp.and_(*windows)) if windows else None)
    for column in columns_of(outer):
        needed.add(column, key=False)
    for part in parts:
        for rows in part.rows:
            for column in columns_around(rows, inside):
                needed.add(column, key=True)
        for left, _ in part.compared or ():
            for column in columns_of(left):
                needed.add(column, key=True)
    nulls = ColumnNames({m.lower() for m in missing})
    for column in columns_of(outer):
        nulls.add(column, key=False)
    found = positive.copy()
    for key in ("group", "having", "distinct", "order"):
        found.set(key, None)
    found.set(
        "expressions", [exp.alias_(c.copy(), n, quoted=True) for n, c in needed.columns.items()]
    )
    if not work.inside and not aggregates(positive):
        _require_values(found, positive, work)
    flats = work.flatten(found, work.is_set)
    times = _add_times(flats, work)
    keys = tuple(n for n in needed.columns if n in needed.keys)
    for name in [n for n in nulls.columns if n in needed.columns]:
        taken = (*needed.columns, *nulls.columns)
        nulls.columns[free_name(name, taken)] = nulls.columns.pop(name)
    stamp = find_bucketed(positive, _declared(positive, work), work.buckets)
    made = [open_part(part, flats, needed, (keys, times), nulls, missing, work) for part in parts]
    stream, columns = work.read(
        AbsenceTrees(
            tuple(flats),
            (*needed.columns, *times),
            (*keys, *times),
            tuple(nulls.columns),
            tuple(made),
            not work.is_set,
            line_of(positive),
            stamp is not None,
            None if stamp is None else _find_time(flats, stamp, work),
        ),
        _name(positive, parts),
    )
    meaning = {needed.text(n): _meaning(n, behind, stream, work) for n, behind in columns}
    meaning |= {nulls.text(n): exp.column(n, stream, quoted=True) for n in nulls.columns}
    at_once = {needed.text(n) for n, behind in columns if behind == 0 and n in needed.columns}
    _refuse_late(windows, at_once)
    outer.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(stream, quoted=True))))
    substitute(outer, meaning)
    return work.flatten(outer, work.is_set)


def _name_results(select: "exp.Select", work: Opening) -> None:
    """A name for every aggregate of a SELECT, in place, so that it has one in all parts; and a
    column that has the same values as another one in the place of a timestamp that is counted, so
    that it is NULL where there is no partner."""
    from sqlglot import exp

    known = _declared(select, work).tables
    for item in list(select.expressions):
        if item.alias or isinstance(item, (exp.Column, exp.Star)):
            continue
        plain = item.copy()
        for name in plain.find_all(exp.Identifier):
            name.set("quoted", False)
        item.replace(exp.alias_(item.copy(), plain.sql("spark"), quoted=True))
    for join in select.args.get("joins") or ():
        alias, on = join.this.alias_or_name, join.args.get("on")
        stream = known.get(alias)
        if not isinstance(stream, Stream) or on is None or str(join.side).upper() != "LEFT":
            continue
        equal = [
            c for e in split_conjuncts(on) if isinstance(e, exp.EQ) for c in e.unnest_operands()
        ]
        there = [c for c in equal if isinstance(c, exp.Column) and c.table == alias]
        for call in select.find_all(exp.Count) if there else ():
            column = call.this
            of = isinstance(column, exp.Column) and column.table == alias
            if of and column.name == stream.timestamp and there[0].name != stream.timestamp:
                column.replace(there[0].copy())


def _take_windows(positive: "exp.Select", inside: set[str]) -> "tuple[exp.Select, list[exp.Expr]]":
    """A SELECT without the conditions of its own rows that have NOW(); and these, which are of the
    rows beside which others are there, or not."""
    from sqlglot import exp

    where = positive.args.get("where")
    kept: list[exp.Expr] = []
    windows: list[exp.Expr] = []
    for conjunct in () if where is None else split_conjuncts(where.this):
        own = all(c.table.lower() in inside for c in columns_of(conjunct))
        own = own and isinstance(conjunct, exp.Predicate) and any(map(is_now, conjunct.walk()))
        (windows if own else kept).append(conjunct)
    if windows:
        positive = positive.copy()
        left = exp.Where(this=exp.and_(*(c.copy() for c in kept))) if kept else None
        positive.set("where", left)
    return positive, [c.copy() for c in windows]


def _refuse_late(windows: "Sequence[exp.Expr]", at_once: set[str]) -> None:
    """Raise SqlRefusal where it is not known at the time that a window is of whether others are
    beside a row: until then it would be shown, and be taken back."""
    for window in windows:
        for column in columns_of(window):
            if name_text(column) not in at_once:
                raise SqlRefusal(
                    "NOW() beside EXISTS, IN or an outer join that looks at later rows",
                    why="whether others are beside a row is not final at the time of the row, when "
                    "its window begins",
                    fix="write EXISTS, IN or the join in a subquery of FROM, whose rows are there "
                    "when they are final, and the condition with NOW() around it",
                    line=line_of(window),
                )


def _require_values(found: "exp.Select", positive: "exp.Select", work: Opening) -> None:
    """Columns that answers show are not NULL in them, unless they are declared nullable."""
    from sqlglot import exp

    tables = {i.alias_or_name: i for i in list_items(found)}
    conditions = []
    for item in positive.expressions:
        column = item.unalias()
        if not isinstance(column, exp.Column) or column.table not in tables:
            continue
        if column.table in work.nullable:
            continue
        table = tables[column.table]
        name, catalog = table.name if isinstance(table, exp.Table) else "", work.catalog()
        known = catalog.streams.get(name) or catalog.relations.get(name)
        if isinstance(known, Stream) and known.timestamp == column.name:
            continue
        if known is None or find_name(column.name, column_names(known)) is None:
            continue  # of a subquery's column, the query over the answers knows it
        if is_nullable(known, column.name):
            continue
        conditions.append(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())))
    if conditions:
        where = found.args.get("where")
        both = [*([] if where is None else [where.this.copy()]), *dict.fromkeys(conditions)]
        found.set("where", exp.Where(this=exp.and_(*both, copy=False)))


def _list_streams(flat: "exp.Select", work: Opening) -> dict[str, Stream]:
    """The streams of FROM, by their aliases."""
    tables = {i.alias_or_name: find_table(i.name, work.catalog()) for i in list_items(flat)}
    return {alias: table for alias, table in tables.items() if isinstance(table, Stream)}


def _find_time(flats: "Sequence[exp.Select]", alias: str, work: Opening) -> str | None:
    """What the time of a row is called (None: it is not the same in all of the SELECTs)."""
    places = [[a.lower() for a in _list_streams(flat, work)] for flat in flats]
    found = {p.index(alias.lower()) if alias.lower() in p else None for p in places}
    place = found.pop() if len(found) == 1 else None
    return None if place is None else f"{TIME} {place}"


def _add_times(flats: "Sequence[exp.Select]", work: Opening) -> tuple[str, ...]:
    """Show the timestamps of all streams of the SELECTs; their names, which are the same in all."""
    from sqlglot import exp

    counts = set()
    for flat in flats:
        found = _list_streams(flat, work).items()
        streams = [exp.column(stream.timestamp, alias, quoted=True) for alias, stream in found]
        shown = [exp.alias_(c, f"{TIME} {n}", quoted=True) for n, c in enumerate(streams)]
        flat.set("expressions", [*flat.expressions, *shown])
        counts.add(len(streams))
    if len(counts) > 1 or 0 in counts:
        raise SqlRefusal(
            "EXISTS, IN or an outer join of rows of "
            + (
                "static relations" if counts == {0} else "parts that read as many streams as others"
            ),
            why="an answer is final at a time, which follows from those of its rows; beside rows "
            "of static relations, rows of streams come and go",
            fix="write a query for each part; of static relations, SELECT columns FROM them WHERE "
            "NOT EXISTS (SELECT 1 FROM a stream WHERE …), without OR, groups and LIMIT, and with "
            "DISTINCT all that is compared; alone they are queried with Spark SQL",
            line=line_of(flats[0]),
        )
    return tuple(f"{TIME} {n}" for n in range(counts.pop()))


def _meaning(name: str, behind: int | None, stream: str, work: Opening) -> "exp.Expr":
    from sqlglot import exp

    if behind is None:
        return exp.column(name, stream, quoted=True)
    made: exp.Expr = exp.column(work.catalog().streams[stream].timestamp, stream, quoted=True)
    if behind:
        micros = exp.Literal.string(str(behind))
        made = exp.Sub(
            this=made, expression=exp.Interval(this=micros, unit=exp.Var(this="MICROSECOND"))
        )
    return made


def _name(positive: "exp.Select", parts: Sequence[Part]) -> str:
    """What the rows are called: the first table, and that of the first part."""
    word = "with" if parts[0].kind is PartKind.PRESENT else "without"
    first = list_items(positive)[0].alias_or_name
    beside = list_items(parts[0].rows[0])
    words = (first, word, beside[0].alias_or_name if beside else "rows")
    return (" " if any(" " in w for w in words) else "_").join(words)
