"""Make a project of data at hand."""

import glob
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.errors import Source, UsageError
from ontoweir.mappings.model.catalog import Catalog, DateType, FloatType, IntType
from ontoweir.progress.progress import FINISHED, OnProgress, Progress, ignore_progress
from ontoweir.scaffold.ddl.declare_constraints import measure_declared
from ontoweir.scaffold.flatten_rows import write_plain
from ontoweir.scaffold.guess_tables import Guessed, find_odd_times, guess_tables
from ontoweir.scaffold.joins.find_same import Same, find_same
from ontoweir.scaffold.joins.share_names import share_names
from ontoweir.scaffold.joins.write_joins import write_joins
from ontoweir.scaffold.list_tables import Tables, list_tables
from ontoweir.scaffold.mapped.find_terms import find_things
from ontoweir.scaffold.mapped.fit_mappings import fit_mappings
from ontoweir.scaffold.mapped.write_mapped import write_mapped
from ontoweir.scaffold.measure_guessed import (
    DECLARED,
    Evidence,
    trust_declared,
)
from ontoweir.scaffold.queries.choose_queries import choose_queries, file_of_query
from ontoweir.scaffold.queries.write_queries import write_queries
from ontoweir.scaffold.queries.write_readme import MAPPING, Readme, write_readme
from ontoweir.scaffold.read_sample import Sample, is_sql, name_table, read_sample
from ontoweir.scaffold.remote.hear_topic import Heard, Listening, hear_topic, is_topic
from ontoweir.scaffold.remote.take_messages import is_kafka, take_messages
from ontoweir.scaffold.split_folder import list_others
from ontoweir.scaffold.terms.choose_terms import Accept, Chosen, accept_sure, choose_terms
from ontoweir.scaffold.terms.terms import Terms
from ontoweir.scaffold.terms.vocabulary import Vocabulary
from ontoweir.scaffold.texts.find_preamble import LeftOut
from ontoweir.scaffold.things.declare_things import declare_things
from ontoweir.scaffold.times.find_other_times import find_other_times
from ontoweir.scaffold.write_catalog import name_live, note_lines, write_catalog
from ontoweir.scaffold.write_terms import write_mapping, write_ontology

if TYPE_CHECKING:
    from ontoweir.scaffold.ddl.read_ddl import DeclaredTables

_SHOWN = 3
"""So many columns are named in a message."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The files of a project, by their paths in it; its streams, relations and queries, by name;
    `left_out`: columns that are not understood; `chosen`: the terms; `copied`: files of data;
    `no_rows`: by table, lines of files that are not read; `others`: files of folders that are no
    files of data; `views` of databases; `denied`: tables that may not be read;
    `refused`: why triples maps of the user's do not fit."""

    files: Mapping[str, str | bytes]
    streams: tuple[str, ...]
    relations: tuple[str, ...]
    queries: tuple[str, ...]
    left_out: tuple[str, ...]
    chosen: Chosen
    copied: tuple[str, ...] = ()
    no_rows: tuple[tuple[str, LeftOut], ...] = ()
    others: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """What a project is made of: `data`: paths, URLs, and `-` for standard input; its `name`; an
    ontology (None: none), and who says which of its terms are taken; `listening`: how long, to
    topics of MQTT; `spark`: settings of Spark, where a source needs it; `names`: of the columns of
    CSV without a header, by the table's name, or of the only one by ""; `static`: tables that are
    no streams; `views`: those of databases are copied as tables are; `mappings`: files of the
    user's own, in whose words the queries are, and not in the project's (none: one is made);
    `on_progress`: is told what is done."""

    data: Sequence[str]
    name: str
    vocabulary: Vocabulary | None = None
    accept: Accept = accept_sure
    listening: Listening = field(default_factory=Listening)
    spark: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    static: frozenset[str] = frozenset()
    views: bool = False
    mappings: Sequence[Path] = ()
    on_progress: OnProgress = ignore_progress


def make_scaffold(given: Given) -> Scaffold:
    """A project over files; the tables of databases are files of the project.

    Args:
        given: files, or folders of such, a table each; or files of databases; or SQL that creates
            tables, whose data is to come; or topics of MQTT, or of Kafka.

    Raises:
        UsageError: a file is not there, two tables have one name, or none has a time.
        DataError: a file is not what its name says.
        RunError: a broker is not there, or refuses.
    """
    written = [Path(p) for p in given.data if is_sql(p)]
    if written:
        if len(written) < len(given.data):
            raise UsageError(
                "SQL and data are named together",
                why="of SQL a project declares tables without data",
                fix="name the one or the other",
            )
        from ontoweir.scaffold.ddl.read_ddl import read_ddl  # brings sqlglot

        declared = read_ddl(written)
        if not declared.catalog.streams:
            raise _no_stream_of_sql(given.data, declared)
        evidence = trust_declared(declared.catalog)
        made = _write(evidence, declared.reasons, declared.left_out, given)
        catalog = _mark_declared(str(made.files["ontoweir.toml"]))
        return replace(made, files={**made.files, "ontoweir.toml": catalog})
    with tempfile.TemporaryDirectory(prefix="ontoweir-init-") as folder:
        place = Path(folder).resolve()
        topics = [url for url in given.data if is_topic(url)]
        heard = [hear_topic(url, place, given.listening) for url in topics]
        taken = [take_messages(url, place, given.spark) for url in given.data if is_kafka(url)]
        rest = [p for p in given.data if p not in topics and not is_kafka(p)]
        listed = list_tables(
            rest,
            place,
            views=given.views,
            named=given.names.keys(),
            on_progress=given.on_progress,
        )
        listed = replace(listed, files=(*(one.file for one in taken), *listed.files))
        tables = listed.files
        made = _make(listed, heard, given)
        inside = {t: f"data/{t.name}" for t in tables if place in t.parents}
        inside |= {one.file: f"arrivals/{one.name}/first.jsonl" for one in heard}
        named = inside | {one.file.parent: f"arrivals/{one.name}" for one in heard}
        files = {n: _rename(text, named) for n, text in made.files.items()}
        live = {inside[one.file]: one for one in taken}
        files["ontoweir.toml"] = name_live(str(files["ontoweir.toml"]), live)
        copied = {name: table.read_bytes() for table, name in inside.items()}
    others = [f for p in rest if Path(p).is_dir() for f in list_others(Path(p))]
    return replace(
        made,
        files={**files, **copied},
        copied=tuple(copied),
        others=tuple(str(file) for file in others),
        views=listed.views,
        denied=listed.denied,
    )


def _mark_declared(catalog: str) -> str:
    """The text of a catalog that says what nothing was seen of."""
    for seen, declared in (
        ("made of data at hand. What is marked `seen` was measured: correct it.", "made of SQL."),
        (f"# seen: {DECLARED}", "# as declared in SQL"),
        ("# seen: no value twice", "# as declared in SQL"),
        ("# seen: no data yet", "# a guess"),
        (" goes on from row to row: it is declared as a timestamp", " is declared as a timestamp"),
        (" goes on from row to row: it has a watermark", " has a watermark"),
        ("no column of it is taken for a time that goes on", "no column of it is a timestamp"),
    ):
        catalog = catalog.replace(seen, declared)
    return catalog


def _rename(text: str | bytes, inside: Mapping[Path, str]) -> str | bytes:
    """A text with the paths that files have in the project."""
    assert isinstance(text, str)
    for table, name in inside.items():
        text = text.replace(str(table), name)
    return text


def _make(tables: Tables, heard: Sequence[Heard], given: Given) -> Scaffold:
    samples = _read_tables(tables.files, given)
    samples += [_of_topic(read_sample(one.file.parent), one) for one in heard]
    names = [sample.name for sample in samples]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two tables would be called {twice!r}",
            why="a table is called after its file",
            fix="rename one of the files",
        )
    for name in sorted(given.static - {*names}):
        raise UsageError(
            f"--static is of a table {name!r}, which there is not",
            why=f"tables are called after their files: {', '.join(names)}",
            fix="name one of these",
            source=Source("--static"),
        )
    guessed = guess_tables(samples, given.static)
    left_out = tuple(f"{s.name}.{column}" for s in samples for column in s.left_out)
    if not guessed.catalog.streams:
        odd = find_odd_times(samples)
        mended = None if odd is None else (odd, "correct it, or leave these rows out")
        raise _no_stream(given.data, mended or find_other_times(samples))
    guess = partial(_guess, samples, given.static)
    guessed, evidence = measure_declared(guessed, guess, tables.declared, _spark, given.on_progress)
    left_out += _list_dropped(guessed.catalog, evidence.catalog)
    given.on_progress(Progress("looking for joins", 0, None))
    same = find_same(evidence.catalog, _spark)
    evidence = declare_things(evidence, _name_things(given, evidence))
    made = _write(evidence, guessed.reasons, left_out, given, same)
    no_rows = tuple((s.name, s.no_rows) for s in samples if s.no_rows.lines or s.no_rows.cut)
    catalog = note_lines(str(made.files["ontoweir.toml"]), dict(no_rows))
    return replace(made, files={**made.files, "ontoweir.toml": catalog}, no_rows=no_rows)


def _of_topic(sample: Sample, heard: Heard) -> Sample:
    """A sample of messages, and of the lines around their array, if they have one."""
    # a few whole numbers say nothing of the next one
    types = tuple((n, FloatType() if k == IntType() else k) for n, k in sample.types)
    outer = None if sample.outer is None else _of_topic(sample.outer, heard)
    made = replace(sample, types=types, mqtt=heard.options, received=heard.received)
    return replace(made, outer=outer)


def _list_dropped(guessed: Catalog, measured: Catalog) -> tuple[str, ...]:
    """Columns of streams of which no type has the values, and why."""
    return tuple(
        f"{name}.{column.name} ({'NaN' if odd else 'finer than a microsecond'})"
        for name, stream in guessed.streams.items()
        for column in stream.columns
        for odd in [column.type == FloatType()]
        if name in measured.streams and measured.streams[name].column(column.name) is None
    )


def _name_things(given: Given, evidence: Evidence) -> frozenset[tuple[str, str]]:
    """The columns that the user's mappings make IRIs of, but for those of times."""
    if not given.mappings:
        return frozenset()
    return find_things(fit_mappings(given.mappings, evidence.catalog).assertions)


def _guess(samples: list[Sample], static: frozenset[str], more: frozenset[str]) -> Guessed:
    return guess_tables(samples, static | more)


def _read_tables(tables: Sequence[Path], given: Given) -> list[Sample]:
    """
    Raises:
        UsageError: columns are named of a table that there is not, or not of one table.
    """
    names = given.names
    called = [name_table(path) for path in tables]
    odd = next((n for n in names if n not in called and (n or len(tables) != 1)), None)
    if odd is not None:
        raise UsageError(
            f"--names is of a table {odd!r}, which there is not"
            if odd
            else f"--names says no table, and there are {len(tables)}",
            why=f"tables are called after their files: {', '.join(called)}",
            fix=f"write --names {next(iter(called), 'data')}=day,clock,value",
        )
    samples = []
    for number, (path, name) in enumerate(zip(tables, called, strict=True), 1):
        given.on_progress(Progress("reading tables", number, len(tables)))
        samples.append(read_sample(path, names.get(name, names.get("", ()))))
    return samples


def _no_stream_of_sql(data: Sequence[str], declared: "DeclaredTables") -> UsageError:
    """That no table of SQL is a stream; which of its columns say when a program comes to a row, or
    have days."""
    processed = declared.processed
    said = f"{' and '.join(processed)} says when a program comes to a row; " if processed else ""
    tables = declared.catalog.relations.values()
    days = [f"{t.name}.{c.name}" for t in tables for c in t.columns if isinstance(c.type, DateType)]
    more = f" and {len(days) - _SHOWN} more" if len(days) > _SHOWN else ""
    days_shown = f"; of type DATE are {', '.join(days[:_SHOWN])}{more}" if days else ""
    return UsageError(
        f"no table of {', '.join(data)} has a timestamp",
        why=f"{said}a stream has a column of times that its rows have themselves, not of when a "
        f"program processes them{days_shown}",
        fix="declare one, as in ts TIMESTAMP"
        + (", also where rows come day by day" if days else ""),
    )


def _no_stream(data: Sequence[str], told: tuple[str, str] | None = None) -> UsageError:
    """That there is no stream. `told`: why, and what to do."""
    return UsageError(
        f"no table of {', '.join(data)} has a time that goes on",
        why=told[0] if told else "a stream has a column of times that, row by row, seldom go back",
        fix=told[1]
        if told
        else "name a file with one: times, texts of ISO 8601, or numbers since 1970 in a column "
        "called ts, time or date",
    )


def _write(
    evidence: Evidence,
    reasons: Sequence[tuple[str, str]],
    left_out: tuple[str, ...],
    given: Given,
    same: Sequence[Same] = (),
) -> Scaffold:
    """The files of a project over tables; `same`: columns of several streams that name the same
    things, by which the first queries join."""
    vocabulary = given.vocabulary
    given.on_progress(FINISHED)  # whoever accepts terms may be asked on the terminal
    ontologies = [] if vocabulary is None else [vocabulary.file]
    words = (_use_mappings if given.mappings else _make_mapping)(evidence, given, same)
    names = [glob.escape(str(file)) for file in ontologies]
    names += ["ontology.ttl"] if "ontology.ttl" in words.files else []
    mappings = [glob.escape(str(f.absolute())) for f in given.mappings] or [MAPPING]
    files = {
        "ontoweir.toml": write_catalog(evidence, reasons, given.name, names, mappings),
        **words.files,
    }
    tried = words.tried
    joins = write_joins(same)
    given.on_progress(Progress("checking queries", 0, None))
    queries = choose_queries(files, [joins, *tried] if joins else tried)
    files |= {file_of_query(query, text): text for query, text in queries.items()}
    files["README.md"] = write_readme(
        Readme(given.name, vocabulary, given.mappings), evidence, queries, words.files
    )
    return Scaffold(
        files,
        tuple(evidence.catalog.streams),
        tuple(evidence.catalog.relations),
        tuple(queries),
        left_out,
        words.chosen,
        refused=words.refused,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """What says a project's classes and properties: `files` that are made; the terms `chosen` of an
    ontology; of each stream the queries in these words (`tried`); triples maps that are
    `refused`."""

    files: Mapping[str, str]
    chosen: Chosen
    tried: list[list[tuple[str, str]]]
    refused: tuple[str, ...] = ()


def _make_mapping(evidence: Evidence, given: Given, same: Sequence[Same]) -> _Words:
    """A mapping of all tables, with the project's own terms, and those of an ontology."""
    catalog, measured = evidence.catalog, dict(evidence.measured)
    shared = share_names(same, catalog)
    chosen = choose_terms(catalog, _choose_base(given), given.vocabulary, given.accept, shared)
    own = write_ontology(catalog, chosen)
    made = {} if own is None else {"ontology.ttl": own}
    tried = [
        list(write_queries(stream, catalog, measured[stream.name], chosen.terms))
        for stream in catalog.streams.values()
    ]
    return _Words({**made, MAPPING: write_mapping(catalog, chosen)}, chosen, tried)


def _use_mappings(evidence: Evidence, given: Given, same: Sequence[Same]) -> _Words:
    """The mappings that the user has, as they are."""
    fitted = fit_mappings(given.mappings, evidence.catalog)
    files = [*given.mappings, *([] if given.vocabulary is None else [given.vocabulary.file])]
    tried = write_mapped(fitted, evidence, files)
    chosen = Chosen(Terms(_choose_base(given), {}, {}, {}, {}))
    return _Words({}, chosen, tried, tuple(str(error) for error in fitted.refused))


def _choose_base(given: Given) -> str:
    """The base of the project's own IRIs, which no term of the ontology has."""
    title = re.sub(r"[^A-Za-z0-9-]+", "-", write_plain(given.name)).strip("-").lower() or "project"
    base = f"http://{title}.example/"
    taken = () if given.vocabulary is None else given.vocabulary.prefixes
    while f"{base}ns#" in taken:
        title += "-data"
        base = f"http://{title}.example/"
    return base


@cache
def _spark() -> Any:
    """A session, where a source needs it."""
    from ontoweir.runtime.spark.start_session import start_session

    return start_session({})
