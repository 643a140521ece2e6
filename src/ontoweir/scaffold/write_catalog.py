"""Write a catalog that was guessed as a project file, with what was seen as comments."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ontoweir.files.name_formats import NESTED_PARQUET
from ontoweir.mappings.catalog.read_envelope import ARCHIVED
from ontoweir.mappings.model.catalog import (
    Column,
    DataSource,
    Envelope,
    IntType,
    Reference,
    Relation,
    Stream,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.measuring.declared import (
    AddCluster,
    AddKey,
    AddReference,
    Declared,
    SetDomain,
    SetLateness,
    SetRate,
)
from ontoweir.scaffold.measure_guessed import BY_DATABASE, Evidence
from ontoweir.scaffold.remote.take_messages import Taken
from ontoweir.scaffold.texts.find_preamble import LeftOut

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredStream

_DEVICES, _OFTEN = 10_000, 10
"""Of so many numbers at most, each so often, it is said between which they lie."""
_LINES, _WIDTH = 8, 100
"""So many lines that are not read are shown, and so much of each."""


def write_catalog(
    evidence: Evidence,
    reasons: Sequence[tuple[str, str]],
    title: str,
    ontologies: Sequence[str],
    mappings: Sequence[str],
) -> str:
    """The text of a project file.

    Args:
        evidence: the catalog, and what was seen.
        reasons: why a stream's time is its time, by name.
        title: of the project.
        ontologies: files, as a project names them.
        mappings: files likewise.
    """
    catalog = evidence.catalog
    lines = [
        f"# {title}: made of data at hand. What is marked `seen` was measured: correct it.",
        "#",
        "#   ontoweir check     can each query be answered in bounded memory?",
        "#   ontoweir measure   what else the data keeps",
        "",
        "[project]",
        f"ontology = {_list(ontologies)}",
        f"mappings = {_list(mappings)}",
        'queries = ["queries/*.rq", "queries/*.sql"]',
    ]
    kept = next((s.name for s in catalog.streams.values() if _is_folder(s.data)), None)
    if kept is not None:
        lines += [
            f"# If `run` is to go on for long: in the source of {kept}, for one,",
            f'# archive = "archive/{kept}" has it move files there that all queries have read.',
        ]
    for name, stream in catalog.streams.items():
        mine = [(d, why) for d, why in evidence.seen if d.stream == name]
        null = dict(_describe_nulls(stream, dict(evidence.measured).get(name)))
        rest = [said for of, said in evidence.undeclared if of == name]
        why, unit = dict(reasons)[name], dict(evidence.units)[name]
        ranges = dict(_describe_ranges(stream, dict(evidence.measured).get(name)))
        lines += ["", *_notes(evidence, name)]
        lines += _stream(stream, mine, why, unit, null | ranges, rest)
    for relation in catalog.relations.values():
        static: dict[str, str] = {}
        for table, column, said in evidence.static_nulls:
            if table == relation.name:
                static[column] = f"{static[column]}; {said}" if column in static else said
        sure = frozenset(key for table, key in evidence.static_keys if table == relation.name)
        lines += ["", *_notes(evidence, relation.name), *_relation(relation, static, sure)]
    return re.sub(f"# seen: (?={BY_DATABASE})", "# ", "\n".join(lines)) + "\n"


def _notes(evidence: Evidence, table: str) -> Iterator[str]:
    """What is to be said of a table, above it."""
    yield from (f"# {' '.join(said.split())}." for of, said in evidence.notes if of == table)


def _references(references: Sequence[Reference], why: str) -> str:
    listed = ", ".join(
        f"{{ columns = {_list(r.columns)}, relation = {_quote(r.relation)}, to = {_list(r.to)} }}"
        for r in references
    )
    return f"references = [{listed}] # seen: {why}"


def _stream(
    stream: Stream,
    seen: Sequence[tuple[Declared, str]],
    why: str,
    unit: str,
    null: Mapping[str, str],
    not_declared: Sequence[str],
) -> Iterator[str]:
    order = "goes on from row to row" if not stream.data.sort else "orders its rows"
    yield f"# A stream, as {stream.timestamp} {order}: {why}."
    yield f"[streams.{stream.name}]"
    yield from _source(stream.data, stream.name)
    entries = [
        f"column = {_quote(stream.timestamp)}",
        f"unit = {_quote(show_duration(stream.step_us))}",
    ]
    if stream.written is not None:
        entries.append(f"format = {_quote(stream.written.format)}")
        if stream.written.columns != (stream.timestamp,):
            entries.append(f"from = {_list(stream.written.columns)}")
        if stream.written.zone is not None:
            entries.append(f"zone = {_quote(stream.written.zone)}")
    if stream.align != "error":
        entries.append(f"align = {_quote(stream.align)}")
    if stream.lateness_us:
        entries.append(f"lateness = {_quote(show_duration(stream.lateness_us))}")
    late = _evidence(seen, SetLateness)
    written = stream.written
    if written is not None and not written.format.startswith("epoch") and written.zone is None:
        yield "# Times that do not say their zone are UTC; of others add zone, as in Europe/Berlin."
    yield f"timestamp = {{ {', '.join(entries)} }} # seen: {'; '.join([unit, *late])}"
    if not_declared:
        yield "# Seen of the first messages; declare what holds of all: others are rejected then."
        yield from dict.fromkeys(f"#   {' '.join(said.split())}" for said in not_declared)
    if stream.max_per_timestamp is not None:
        limit = f"max_per_timestamp = {stream.max_per_timestamp}"
        yield f"{limit} # seen: {'; '.join(_evidence(seen, SetRate))}"
    if stream.keys:
        keys = ", ".join(_list(key) for key in stream.keys)
        yield f"keys = [{keys}] # seen: {'; '.join(_evidence(seen, AddKey))}"
    if stream.references:
        yield _references(stream.references, "; ".join(_evidence(seen, AddReference)))
    if stream.lags:
        listed = ", ".join(
            f"{{ columns = {_list(g.columns)}, within = {_quote(show_duration(g.within_us))} }}"
            for g in stream.lags
        )
        yield f"clustered = [{listed}] # seen: {'; '.join(_evidence(seen, AddCluster))}"
    yield ""
    yield f"[streams.{stream.name}.columns]"
    domains = {d.column.name: said for d, said in seen if isinstance(d, SetDomain)}
    for column in stream.columns:
        found = [s for of in (domains, null) if (s := of.get(column.name)) is not None]
        said = f" # seen: {' '.join('; '.join(found).split())}" if found else ""
        yield f"{_key(column.name)} = {_type(column)}{said}"
    if stream.data.envelope is not None:
        yield from _versions(stream, stream.data.envelope)


def _versions(stream: Stream, envelope: Envelope) -> Iterator[str]:
    """The relation that a stream of changes keeps, to be completed."""
    key = next((c.name for c in stream.columns), "id")
    entries = f"stream = {_quote(stream.name)}, key = {_list([key])}"
    yield ""
    yield f"# What holds at each time, if {key} says which row is meant, and keys = "
    yield f"# [{_list([key, stream.timestamp])}] is declared of {stream.name}:"
    yield f"# [relations.{stream.name}_now]"
    yield f"# versions = {{ {entries}, delete = {_quote(envelope.delete)} }}"


def _describe_ranges(
    stream: Stream, measured: "MeasuredStream | None"
) -> Iterator[tuple[str, str]]:
    """Between which numbers those lie that come again and again, as of devices: it is left to the
    reader to declare it, as what lies outside is rejected then."""
    referring = {c for r in stream.references for c in r.columns}
    if measured is None or stream.data.mqtt:  # of topics, little was heard
        return
    for column in stream.columns:
        found = measured.columns.get(column.name)
        if found is None or found.distinct is None or column.name in referring:
            continue
        if column.minimum is not None and column.maximum is not None:
            continue
        again = 1 < found.distinct <= _DEVICES and found.distinct * _OFTEN <= measured.rows
        if again and isinstance(column.type, IntType) and not found.nulls:
            ends = f"{found.minimum}..{found.maximum}"
            said = f"{found.distinct:,} values, {ends}; min and max would bound groups by them"
            yield column.name, said


def _describe_nulls(stream: Stream, measured: "MeasuredStream | None") -> Iterator[tuple[str, str]]:
    """In how many rows columns that are declared nullable are NULL, and in how many there is
    something else than is declared."""
    if measured is None:
        return
    for column in stream.columns:
        found = measured.columns.get(column.name)
        said = []
        wrong = measured.mistyped.get(column.name, 0)
        if column.nullable and found is not None and found.nulls > wrong:
            said.append(f"NULL in {found.nulls - wrong:,} of {measured.rows:,} rows")
        if wrong:
            rows = f"{wrong:,} of {measured.rows:,} rows"
            said.append(f"something else in {rows}, which are rejected: see check --data")
        if said:
            yield column.name, "; ".join(said)


def _relation(
    relation: Relation, null: Mapping[str, str], sure: frozenset[tuple[str, ...]]
) -> Iterator[str]:
    """`sure`: keys that a database declares."""
    yield "# A static relation: no column of it is taken for a time that goes on."
    yield f"[relations.{relation.name}]"
    yield from _source(relation.data, relation.name)
    if relation.keys:
        why = dict.fromkeys(BY_DATABASE if k in sure else "no value twice" for k in relation.keys)
        yield f"keys = [{', '.join(map(_list, relation.keys))}] # seen: {'; '.join(why)}"
    if relation.references:
        yield _references(relation.references, BY_DATABASE)
    if relation.max_rows is not None:
        yield f"max_rows = {relation.max_rows} # seen: so many rows; bounds rest on it: leave room"
    yield ""
    yield f"[relations.{relation.name}.columns]"
    for column in relation.columns:
        said = f" # seen: {null[column.name]}" if column.name in null else ""
        yield f"{_key(column.name)} = {_type(column)}{said}"


def _evidence(seen: Sequence[tuple[Declared, str]], kind: type[Declared]) -> list[str]:
    return list(dict.fromkeys(why for declared, why in seen if isinstance(declared, kind)))


def name_live(catalog: str, topics: Mapping[str, Taken]) -> str:
    """The text of a catalog that says, beside messages at hand, of which topic of Kafka they are.

    Args:
        catalog: its text.
        topics: by the path of a file of messages, where they come from.
    """
    made = []
    for line in catalog.split("\n"):
        made.append(line)
        taken = next((t for p, t in topics.items() if f"path = {_quote(p)}" in line), None)
        if taken is not None and line.startswith("source"):
            line = line.replace(", sort = true", "")
            live = re.sub(r"(?<=format = )\S+?, path = .*?(?=,| \})", '"kafka"', line, count=1)
            live = re.sub(r"(, options = \{.*?\})? \}$", "", live)
            registry = f", registry = {{ {_members(taken.registry)} }}" if taken.registry else ""
            live += f"{registry}, options = {{ {_members(taken.options)} }} }}"
            made.append("# These are the first messages of a topic. Live, the source is the topic:")
            made.append(f"# {live}")
    return "\n".join(made)


def _members(options: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{_key(name)} = {_quote(value)}" for name, value in options)


def note_lines(catalog: str, no_rows: Mapping[str, LeftOut]) -> str:
    """The text of a catalog that says, above the source of a table, which lines are not read.

    Args:
        catalog: its text.
        no_rows: by table, lines of its file that are neither the header nor rows.
    """
    made, table = [], ""
    for line in catalog.split("\n"):
        header = re.fullmatch(r"\[(?:streams|relations)\.(\w+)\]", line)
        table = header[1] if header else table
        found = no_rows.get(table)
        if found is not None and line.startswith("source = "):
            made += [f"# {said}" for said in describe_lines(found)]
        made.append(line)
    return "\n".join(made)


def describe_lines(no_rows: LeftOut) -> Iterator[str]:
    """In words, which lines of a file are not read."""
    count = len(no_rows.lines)
    values = f", {no_rows.values} of them with values" if no_rows.values else ""
    lines = "one line" if count == 1 else f"{count} lines"
    if count:
        yield f"left out, as no rows of the table: {lines} of its file{values}:"
    for line in no_rows.lines[:_LINES]:
        yield f"    {' '.join(line.split())[:_WIDTH]}"
    if count > _LINES:
        yield f"    … and {count - _LINES} more"
    if no_rows.values:
        yield "If these are a table, save it as a file of its own."
    if no_rows.cut:
        have = "has" if no_rows.cut == 1 else "have"
        yield (
            f"{no_rows.cut:,} of the first {no_rows.seen:,} rows {have} more cells than there are "
            "columns; what is beyond is not read."
        )
        yield "A cell that has the separator in it needs quotes around it."


def _is_folder(data: DataSource) -> bool:
    """Whether a live run may move files of a source: it is a local folder, or a pattern."""
    path = str(data.path)
    folder = "." not in os.path.basename(path) or bool(set(path) & set("*?["))
    return folder and "://" not in path and data.format in ARCHIVED


def _source(data: DataSource, table: str) -> Iterator[str]:
    told = dict(data.options)
    if data.format == "csv" and not {"header", "names"} & told.keys():
        yield '# It has no header: name its columns by options = { names = "a|b|c" }; or make the'
        yield f"# project anew with --names {table}=a,b,c"
    form = "parquet" if data.format == NESTED_PARQUET else data.format
    form = "mqtt" if data.mqtt else form
    entries = [f"format = {_quote(form)}", f"path = {_quote(str(data.path))}"]
    if data.sort:
        entries.append("sort = true")
    if data.unnest is not None:
        entries.append(f"unnest = {_quote(data.unnest)}")
    if data.envelope is not None:
        entries.append(f"envelope = {_quote(data.envelope.form)}")
        entries.append(f"delete = {_quote(data.envelope.delete)}")
    if data.options or data.mqtt:
        given = (*data.mqtt, *data.options)
        options = ", ".join(f"{name} = {_quote(value)}" for name, value in given)
        entries.append(f"options = {{ {options} }}")
    yield f"source = {{ {', '.join(entries)} }}"


def _type(column: Column) -> str:
    kind = _quote(name_column_type(column.type))
    told = "" if column.path is None else f", from = {_quote(column.path)}"
    if column.enum is not None:
        told += f", enum = {_list([str(v) for v in column.enum])}"
    ends = [("min", column.minimum), ("max", column.maximum)]
    told += "".join(f", {key} = {value}" for key, value in ends if value is not None)
    told += ", nullable = true" if column.nullable else ""
    return f"{{ type = {kind}{told} }}" if told else kind


def _key(name: str) -> str:
    return (
        name
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii()
        else (_quote(name))
    )


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quote, names))}]"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
