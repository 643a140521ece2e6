"""Repairs for people: the action, its file and line, and the lines to paste."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import SequenceMatcher
from typing import assert_never

from ontoweir.checker.repair.changes import (
    ROWS,
    VALUES,
    AddOrder,
    AddWindow,
    Change,
    DeclareDomain,
    DeclareFew,
    DeclareGap,
    DeclareKey,
    DeclareReference,
    DropGroup,
    DropVariable,
    LeaveNulls,
    SetDistinct,
    apply_change,
)
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.edit.edit_project import (
    add_cluster,
    add_key,
    add_reference,
    edit_column,
    list_key,
    set_few,
    write_cluster,
    write_domain,
    write_reference,
)
from ontoweir.edit.edit_sparql import add_filter, drop_variable, has_prefix
from ontoweir.edit.edit_sparql import drop_group as drop_group_sparql
from ontoweir.edit.edit_sparql import set_distinct as set_distinct_sparql
from ontoweir.edit.edit_sql import add_condition, drop_column, leave_nulls
from ontoweir.edit.edit_sql import drop_group as drop_group_sql
from ontoweir.edit.edit_sql import set_distinct as set_distinct_sql
from ontoweir.edit.edit_toml import write_key
from ontoweir.errors import Source, with_article
from ontoweir.files.mark_source import mark_source
from ontoweir.mappings.model.catalog import Catalog, Column, FloatType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines to write in a file: from line `source.line` on, in the place of `replaced` lines
    (0: before it). Without a line: somewhere in that file, where the comment in them says.

    All edits of a repair count lines of the files as they are now.
    """

    source: Source
    replaced: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DescribedRepair:
    """A repair: sentences, edits that do it, and the verdict with them; `changes`: what it is;
    `rejects`: how many rows of the data at hand its declarations are not true of (None: that was
    not looked at), and `against`: some of them."""

    actions: tuple[str, ...]
    edits: tuple[Edit, ...]
    verdict: Verdict
    changes: tuple[Change, ...] = ()
    rejects: int | None = None
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """The files of a project with changes made: the query's text, the project file's (None: as it
    is), and lines for which there was no place in that file."""

    query: str
    project: str | None
    more: tuple[tuple[Source, tuple[str, ...]], ...] = ()


def draft_changes(
    changes: Sequence[Change],
    union: SpjUnion,
    catalog: Catalog,
    *,
    query: str,
    project: str | None,
    sql: bool,
) -> Draft | None:
    """The files with changes made; None where the query cannot be changed like that.

    Args:
        changes: to the query or the catalog.
        union: the query.
        catalog: of the project.
        query: the query's text.
        project: the project file's text, if it can be read.
        sql: whether the query is plain SQL, not SPARQL.
    """
    more: list[tuple[Source, tuple[str, ...]]] = []
    begun, declared = project, catalog
    for change in changes:
        _, after = apply_change(change, union, declared)
        match change:
            case DeclareDomain(stream=name, column=column):
                table = after.streams[name]
                made = table.column(column)
                assert made is not None
                place = made.source or table.source or Source(catalog.file)
                edited = None
                if project is not None and place.file == catalog.file:  # not from --set
                    edited = edit_column(project, name, made)
                if edited is None:
                    line = (
                        f"{write_key(column)} = {write_domain(made)}  # in [streams.{name}.columns]"
                    )
                    more.append((Source(place.file), (line,)))
                else:
                    project = edited
            case DeclareReference(stream=name):
                table = after.streams[name]
                added = table.references[-1]
                edited = None if project is None else add_reference(project, name, added)
                if edited is None:
                    line = f"references = [{write_reference(added)}]  # more, in [streams.{name}]"
                    more.append((Source((table.source or Source(catalog.file)).file), (line,)))
                else:
                    project = edited
            case DeclareKey(stream=name, columns=key):
                edited = None if project is None else add_key(project, name, key)
                if edited is None:
                    line = f"keys = [{list_key(key)}]  # one more, in [streams.{name}]"
                    place = after.streams[name].source or Source(catalog.file)
                    more.append((Source(place.file), (line,)))
                else:
                    project = edited
            case DeclareGap(stream=name) | DeclareFew(stream=name):
                edited, line = _edit_rule(change, project, after)
                if edited is None:
                    place = after.streams[name].source or Source(catalog.file)
                    more.append((Source(place.file), (line,)))
                else:
                    project = edited
            case _:
                changed = _edit_query(change, query, union, catalog, sql=sql)
                if changed is None:
                    return None
                query = changed
                if isinstance(change, DropVariable | DropGroup | LeaveNulls):
                    union, _ = apply_change(change, union, catalog)
        declared = after
    return Draft(query, project if project != begun else None, tuple(more))


def _edit_rule(
    change: DeclareGap | DeclareFew, project: str | None, after: Catalog
) -> tuple[str | None, str]:
    """The project file with a rule (None: there is no place), and the line that says it."""
    name = change.stream
    if isinstance(change, DeclareFew):
        edited = None if project is None else set_few(project, name, change.columns, ROWS)
        on = ", ".join(change.columns)
        return edited, f"max_rows_per_value = {ROWS}  # in the rule on {on} of [streams.{name}]"
    column = change.column
    declared = after.streams[name].closing[-1]
    gap, most = show_duration(declared.gap_us or 0), declared.most_rows
    edited = None if project is None else add_cluster(project, name, column, "gap", gap, most)
    rule = write_cluster(column, "gap", gap, most)
    return edited, f"clustered = [{rule}]  # one more, in [streams.{name}]"


def _edit_query(
    change: AddWindow | AddOrder | DropVariable | DropGroup | LeaveNulls | SetDistinct,
    text: str,
    union: SpjUnion,
    catalog: Catalog,
    *,
    sql: bool,
) -> str | None:
    match change:
        case AddWindow(earlier=earlier, later=later) | AddOrder(earlier=earlier, later=later):
            condition = write_condition(change, union, catalog, text=text, sql=sql)
            return (
                add_condition(text, condition, (earlier, later))
                if sql
                else add_filter(text, condition)
            )
        case DropVariable(name=name):
            if sql:
                return drop_column(text, union.variables.index(name), len(union.variables))
            return drop_variable(text, name, [v for v in union.variables if v != name])
        case DropGroup(name=name):
            assert union.aggregation is not None
            if sql:
                return drop_group_sql(text, union.aggregation.columns.index(name))
            return drop_group_sparql(text, name)
        case LeaveNulls(name=name):
            if not sql:
                return add_filter(text, f"BOUND(?{name})")
            assert union.aggregation is not None
            if name not in union.aggregation.columns:
                return None
            return leave_nulls(text, union.aggregation.columns.index(name))
        case SetDistinct(distinct=distinct):
            return (set_distinct_sql if sql else set_distinct_sparql)(text, distinct)
        case _:
            assert_never(change)


def write_condition(
    change: AddWindow | AddOrder, union: SpjUnion, catalog: Catalog, *, text: str, sql: bool
) -> str:
    """A condition on two times, in the language of the query."""
    earlier, later = change.earlier, change.later
    if isinstance(change, AddOrder):
        if sql:
            return f"{_time(earlier, union, catalog)} < {_time(later, union, catalog)}"
        return f"?{earlier} < ?{later}"
    length = change.steps * _step(change, union, catalog)
    if sql:
        first, second = _time(earlier, union, catalog), _time(later, union, catalog)
        return f"{second} <= {first} + INTERVAL {_count(length)}"
    kind = "xsd:dayTimeDuration" if has_prefix(text, "xsd", XSD) else f"<{XSD}dayTimeDuration>"
    return f'?{later} - ?{earlier} <= "{_iso(length)}"^^{kind}'


def describe_change(change: Change, union: SpjUnion, catalog: Catalog, *, sql: bool) -> str:
    """A change as a sentence that says what its numbers are worth: those of declarations and
    windows are examples."""
    mark = "" if sql else "?"
    match change:
        case DeclareDomain(stream=name, column=column):
            made = apply_change(change, union, catalog)[1].streams[name].column(column)
            before = catalog.streams[name].column(column)
            assert made is not None
            assert before is not None
            return _describe_domain(f"{name}.{column}", before, made)
        case DeclareReference(stream=name, column=column, relation=relation, to=to):
            return f"declare that every {name}.{column} is {with_article(relation)}.{to}, if so"
        case DeclareKey(stream=name, columns=key):
            return f"declare a key of {name}: no two rows have the same {', '.join(key)}, if so"
        case DeclareGap(stream=name, column=column):
            rule = apply_change(change, union, catalog)[1].streams[name].closing[-1]
            few = f", and that it has few rows, for example {rule.most_rows}"
            return (
                f"declare that consecutive rows of {name} with one {column} lie within a gap, for "
                f"example of {show_duration(rule.gap_us or 0)}{few if change.few else ''}, if so"
            )
        case DeclareFew(stream=name, columns=columns):
            until = "it is" if len(columns) == 1 else "they are"
            return (
                f"declare that few rows of {name} have one {' and '.join(columns)} until {until} "
                f"closed, for example {ROWS}, if so"
            )
        case AddWindow(earlier=earlier, later=later, steps=steps):
            length = _spoken(steps * _step(change, union, catalog))
            return (
                f"limit the time from {mark}{earlier} to {mark}{later} by a window, "
                f"for example of {length}"
            )
        case AddOrder(earlier=earlier, later=later):
            return f"ask for {mark}{earlier} before {mark}{later}"
        case DropVariable(name=name):
            return f"do not select {mark}{name}"
        case DropGroup(name=name):
            return f"group by less: without {mark}{name}"
        case LeaveNulls(name=name):
            return (
                f"leave out rows without {mark}{name}: of the others it is declared when their "
                "group is complete"
            )
        case SetDistinct(distinct=True):
            return "select DISTINCT: whether there is a match, not how many"
        case SetDistinct():
            return "select without DISTINCT: every match, as it comes"
        case _:
            assert_never(change)


def _describe_domain(name: str, before: Column, made: Column) -> str:
    if made.enum is not None:
        return (
            f"list the values of {name}, if there are few: {', '.join(VALUES)} stand for them here"
        )
    limits = f"{made.minimum}..{made.maximum}"
    if isinstance(before.type, FloatType):
        return (
            f"declare {name} as a decimal with limits, if it has them (a double has no finite "
            f"range); {limits} is an example"
        )
    return (
        f"declare the least and the greatest value of {name}, if it has them; {limits} is an "
        "example"
    )


def describe_edits(
    changes: Sequence[Change],
    drafted: Draft,
    union: SpjUnion,
    catalog: Catalog,
    *,
    query: str,
    project: str | None,
    sql: bool,
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """Changes as sentences, and as edits of the user's files, whose texts as they are `query` and
    `project` are."""
    texts = tuple(describe_change(c, union, catalog, sql=sql) for c in changes)
    edits: list[Edit] = []
    if drafted.project is not None and project is not None:
        edits += compare_texts(Source(catalog.file), project, drafted.project)
    edits += [Edit(source, 0, lines) for source, lines in drafted.more]
    if union.source is not None:
        edits += compare_texts(union.source, query, drafted.query)
    return texts, tuple(edits)


def compare_texts(source: Source, before: str, after: str) -> list[Edit]:
    """The lines that differ."""
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Edit(Source(source.file, a + 1), b - a, tuple(new[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def replaced_lines(edit: Edit) -> tuple[str, ...]:
    """The lines that an edit removes."""
    first = edit.source.line or 1
    marks = (mark_source(Source(edit.source.file, first + n)) for n in range(edit.replaced))
    return tuple(m.text for m in marks if m is not None)


def _step(change: AddWindow, union: SpjUnion, catalog: Catalog) -> int:
    """The step of the streams that a window is between, microseconds."""
    catalog = extend_catalog(catalog, union)
    names = {change.earlier, change.later}
    for query in union.disjuncts:
        times = {alias: p.time for alias, p in query.provenance}
        for o in query.occurrences:
            if o.table in catalog.streams and (times.get(o.alias) or o.alias) in names:
                return catalog.streams[o.table].step_us
    return max(s.step_us for s in catalog.streams.values())


def _time(alias: str, union: SpjUnion, catalog: Catalog) -> str:
    tables = {o.alias: o.table for q in union.disjuncts for o in q.occurrences}
    names = (alias, extend_catalog(catalog, union).streams[tables[alias]].timestamp)
    return ".".join(n if re.fullmatch(r"[A-Za-z_]\w*", n) else f"`{n}`" for n in names)


def _unit(microseconds: int) -> tuple[int, str]:
    for unit in ("day", "hour", "minute", "second", "millisecond"):
        if microseconds % UNITS_US[unit] == 0:
            return microseconds // UNITS_US[unit], unit
    return microseconds, "microsecond"


def _spoken(microseconds: int) -> str:
    number, unit = _unit(microseconds)
    return f"{number} {unit}" + ("s" if number != 1 else "")


def _count(microseconds: int) -> str:
    """A duration for SQL: `'1' HOUR`."""
    number, unit = _unit(microseconds)
    return f"'{number}' {unit.upper()}"


def _iso(microseconds: int) -> str:
    """An xsd:dayTimeDuration: `PT1H`."""
    length = timedelta(microseconds=microseconds)
    hours, rest = divmod(length.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0") if length.microseconds else ""
    parts = [
        f"{hours}H" if hours else "",
        f"{minutes}M" if minutes else "",
        f"{seconds}{fraction}S" if seconds or fraction else "",
    ]
    days = f"{length.days}D" if length.days else ""
    time = "".join(parts)
    return f"P{days}" + (f"T{time}" if time else "")
