"""Read scripts of SQL: what they declare, and what they ask."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, assert_never

from ontoweir.errors import DataError, OntoweirError, QueryError, Source, UsageError
from ontoweir.mappings.model.catalog import Catalog, QueryView, Relation, Stream
from ontoweir.scaffold.ddl.read_ddl import read_tables
from ontoweir.scaffold.ddl.read_flink import is_flink, list_members, split_at
from ontoweir.scaffold.scripts.name_members import name_members
from ontoweir.scaffold.scripts.read_changes import read_changes
from ontoweir.scaffold.scripts.split_script import (
    Kind,
    Statement,
    bare_name,
    cut_pieces,
    split_script,
)

Table = TypeVar("Table", Stream, Relation)

Dialect: TypeAlias = Literal["flink", "spark", "risingwave", "materialize", "feldera"]

_OPTION = r"'(?:value\.)?%s'\s*=\s*'([^']*)'"
_CHANGING = re.compile(r"upsert|-cdc$|debezium|canal|maxwell|ogg", re.I)
_LOOKED_UP = ("jdbc", "filesystem", "hive", "hbase", "hbase-2.2", "mysql", "values", "iceberg")
"""Connectors of Flink whose tables are read whole, or row by row, where there is no watermark."""
_WATCHED = re.compile(r"'(?:[\w.-]*monitor-interval|streaming[\w.-]*)'\s*=\s*'(?!false')", re.I)
_LATENESS = re.compile(r"\bLATENESS\s+INTERVAL\s+'?(\d+)'?\s*(\w+)", re.I)
_DELAY = re.compile(r"\bWATERMARK\s+INTERVAL\s+'?[\w.:]+'?\s*\w*", re.I)
_HEAD = re.compile(r"(?:(?!\b(?:WITH|LIKE|FROM)\b)[^(])*\(", re.I)
_LIKE = re.compile(r"\bLIKE\s+([`\w.]+)", re.I)
_FIX = (
    "declare [streams.{name}], or [relations.{name}] with versions where its rows change, in a "
    "catalog, and name that with --catalog"
)
_ARRIVAL = "arrival_time"
"""How the time of arrival is called where nothing in a script calls it."""
_MILLISECOND = 1_000
_FIX_COLUMNS = "declare it with its columns in a catalog, and name that with --catalog"
_LATE = re.compile(r'lateness = "([^"]*)"')
_PART = r"(?:`[^`]+`|\"[^\"]+\"|[A-Za-z_][\w$]*)"
_QUALIFIED = re.compile(
    rf"(\b(?:FROM|JOIN|TABLE)\s+)((?:{_PART}\s*\.\s*)+)({_PART})(?!\s*[.(])", re.I
)
_UNKNOWN = re.compile(r"unknown table '([^']*)'")


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that asks for something; `name`: what it writes into, or makes, or else its file
    and line; `source`: where it is; `text`: as it is written; `body`: its query, whose lines are
    those of the file; `columns`: the names that it gives its columns."""

    name: str
    source: Source
    text: str
    body: str


@dataclass(frozen=True, slots=True)
class Scripts:
    """What scripts declare and ask; `excluded`: why tables that they create are not in the catalog,
    by name, in small letters; `passed`: statements that say nothing of queries, the first word of
    each with its place; `notes`: in words,
    what watermarks wait for that is not declared."""

    catalog: Catalog
    asked: tuple[Asked, ...]
    excluded: Mapping[str, tuple[str, str]]
    passed: tuple[tuple[str, Source], ...]
    notes: tuple[str, ...]

    def explain(self, error: OntoweirError) -> OntoweirError:
        """An error of a statement: of a table that is excluded, why that is."""
        unknown = _UNKNOWN.match(error.what)
        name = "" if unknown is None else unknown[1].split(".")[-1]
        if name.lower() not in self.excluded:
            return error
        why, fix = self.excluded[name.lower()]
        return QueryError(f"{name} cannot be read", why=why, fix=fix, source=error.source)


def read_scripts(
    files: Sequence[Path], catalog: Catalog | None = None, dialect: Dialect | None = None
) -> Scripts:
    """What scripts declare and ask, the ones before being known to those after them.

    Args:
        files: of SQL, as they are.
        catalog: what is declared beside them; of a table that is declared twice, this counts.
        dialect: of which engine they are (None: what they look like).

    Raises:
        UsageError: a file is not there, or nothing is asked in any.
        DataError: a table is not SQL that is known.
    """
    found = []
    for file in files:
        text = _read_text(file)
        late: Dialect = "feldera" if _LATENESS.search(text) is not None else "spark"
        looks: Dialect = "flink" if is_flink(text) else late
        found += [(str(file), dialect or looks, s) for s in split_script(text)]
    return read_statements(found, catalog or Catalog(file=str(files[0])))


def read_statements(found: Sequence[tuple[str, Dialect, Statement]], catalog: Catalog) -> Scripts:
    """As `read_scripts`, of statements with their files, and whose SQL they are.

    Raises:
        UsageError: nothing is asked.
    """
    reading = _Reading(catalog)
    for file, dialect, statement in found:
        reading.read(file, dialect, statement)
    made = reading.finish()
    if not made.asked:
        raise UsageError(
            "the script asks for nothing",
            why="SELECT, INSERT INTO … SELECT, and views that no other statement reads are decided",
            fix="add such a statement, or `ontoweir init DIR --from FILE` to make a project of its "
            "tables",
            source=Source(found[-1][0] if found else catalog.file),
        )
    return made


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            f"{file} cannot be read: {said or error}",
            why="it is a script of SQL by its name",
            fix="correct the path, or save it as UTF-8",
            source=Source(str(file)),
        ) from error


class _Reading:
    """What was read so far."""

    def __init__(self, given: Catalog) -> None:
        self.given = given
        self.known = {n.lower() for n in (*given.streams, *given.relations, *given.views)}
        self.streams: dict[str, Stream] = {}
        self.relations: dict[str, Relation] = {}
        self.views: dict[str, tuple[QueryView, Statement]] = {}
        self.excluded: dict[str, tuple[str, str]] = {}
        self.asked: list[Asked] = []
        self.passed: list[tuple[str, Source]] = []
        self.nested: set[tuple[str, ...]] = set()
        self.notes: list[str] = []

    def read(self, file: str, dialect: Dialect, statement: Statement) -> None:
        source = Source(file, statement.line)
        match statement.kind:
            case Kind.TABLE:
                self._add_table(statement, source, dialect)
            case Kind.VIEW:
                self._add_view(statement, source, dialect)
            case Kind.QUERY:
                self._ask(statement, source, dialect)
            case Kind.OTHER:
                self.passed.append((statement.text.split(None, 1)[0].upper(), source))
            case _:
                assert_never(statement.kind)

    def _add_table(self, statement: Statement, source: Source, dialect: Dialect) -> None:
        name = statement.name or ""
        if name.lower() in self.known:
            return
        columns, options = _cut_table(statement.text)
        if (why := _find_exclusion(columns, options, dialect)) is not None:
            self._add_changing(name, (columns, options), source, dialect)
            if name not in self.streams:
                self._exclude(name, f"{why} ({source})", _FIX.format(name=name))
        elif (like := _LIKE.search(options)) is not None and not columns:
            self._add_alike(name, bare_name(like[1]), source)
        elif not columns:
            self._exclude(name, f"its columns are not in the script ({source})", _FIX_COLUMNS)
        else:
            self._add_columns(name, (columns, options), source, dialect)

    def _add_changing(
        self, name: str, text: tuple[str, str], source: Source, dialect: Dialect
    ) -> None:
        """A table of Flink's whose rows replace those of their key: one that is read as of a time,
        if it has a watermark."""
        keyed = re.search(r"\bPRIMARY\s+KEY\b", text[0], re.I) is not None
        if dialect != "flink" or not keyed or not re.search(r"\bWATERMARK\s+FOR\b", text[0], re.I):
            return
        self._add_columns(name, text, source, dialect)
        stream = self.streams.pop(name, None)
        made = None if stream is None else read_changes(stream)
        if made is not None and made[0].name.lower() not in self.known:
            self.streams |= {one.name: one for one in made}

    def _add_alike(self, name: str, other: str, source: Source) -> None:
        """A table with the columns of another."""
        stream = _find(self.streams, other) or _find(self.given.streams, other)
        relation = _find(self.relations, other) or _find(self.given.relations, other)
        if stream is not None:
            self.streams[name] = replace(stream, name=name, source=source)
        elif relation is not None:
            self.relations[name] = replace(relation, name=name, source=source)
        else:
            why, _ = self.excluded.get(other.lower(), (f"there is no table {other}", ""))
            self._exclude(name, f"it is like {other}, and {why}", _FIX.format(name=name))

    def _add_columns(
        self, name: str, text: tuple[str, str], source: Source, dialect: Dialect
    ) -> None:
        """A table by its columns; `text`: these, and what follows them."""
        columns, options = text
        parts = split_at(columns, ",")
        self.nested |= {path for part in parts for path, _ in list_members(part)}
        streaming = dialect != "spark"  # tables are streams; a time is one where that is declared
        plain = f"CREATE TABLE {name} ({_mark_lateness(columns) if streaming else columns})"
        try:
            made = read_tables([(source, plain)], flink=streaming)
        except DataError as error:
            self._exclude(name, f"{error.what} ({source})", _FIX.format(name=name))
            return
        for stream in made.catalog.streams.values():
            step = _MILLISECOND if dialect == "flink" else 1
            self.streams[stream.name] = replace(stream, source=source, step_us=step)
            if not streaming:
                self.notes.append(
                    f"{source}: rows of {stream.name} are taken to come in the order of "
                    f"{stream.timestamp}; the script does not say how they come; if that is not "
                    "so, name whose SQL it is with --dialect, or declare it in a catalog"
                )
        for relation in made.catalog.relations.values():
            if not streaming or _is_looked_up(options):
                self.relations[relation.name] = replace(relation, source=source)
            else:
                time = next((c.split(".")[1] for c in made.processed), _ARRIVAL)
                self.streams[relation.name] = _as_stream(relation, time, source)
        for made_name, why in made.reasons:
            if (late := _LATE.search(why)) is not None:
                self.notes.append(
                    f"{source}: the watermark of {made_name} stays {late[1]} behind; rows that "
                    "wait for it are not in the bound; declare, in a catalog that --catalog names, "
                    f'lateness = "{late[1]}" in its timestamp, with max_per_timestamp'
                )

    def _exclude(self, name: str, why: str, fix: str) -> None:
        self.excluded[name.lower()] = why, fix

    def _add_view(self, statement: Statement, source: Source, dialect: Dialect) -> None:
        name = statement.name or ""
        if name.lower() in self.known:
            return
        if statement.columns:
            self._exclude(
                name,
                f"the view gives its columns names beside its query ({source})",
                "give them in its SELECT, with AS",
            )
            return
        view = QueryView(name, self._settle(statement, dialect), source, source.file)
        self.views[name] = view, statement

    def _ask(self, statement: Statement, source: Source, dialect: Dialect) -> None:
        name = statement.name or f"{Path(source.file).stem}-{statement.line}"
        body = self._settle(statement, dialect)
        self.asked.append(Asked(name, source, statement.text, body))

    def _settle(self, statement: Statement, dialect: Dialect) -> str:
        return name_members(_settle_names(statement.body or "", dialect), self.nested)

    def finish(self) -> Scripts:
        views = {name: view for name, (view, _) in self.views.items()}
        bodies = [a.body for a in self.asked] + [v.text for v in views.values()]
        for name, (view, statement) in self.views.items():
            others = (b for b in bodies if b is not view.text)
            read = any(re.search(rf"\b{re.escape(name)}\b", b, re.I) for b in others)
            if statement.kept or not read:
                self.asked.append(Asked(name, view.source, statement.text, view.text))
        catalog = replace(
            self.given,
            streams={**self.streams, **self.given.streams},
            relations={**self.relations, **self.given.relations},
            views={**views, **self.given.views},
        )
        files = list(dict.fromkeys(a.source.file for a in self.asked))
        asked = sorted(self.asked, key=lambda a: (files.index(a.source.file), a.source.line or 0))
        return Scripts(
            catalog, _tell_apart(asked), self.excluded, tuple(self.passed), tuple(self.notes)
        )


def _settle_names(body: str, dialect: Dialect) -> str:
    """A query in which tables are called by the last part of their names, and names in double
    quotes have Spark's, all at the same places."""
    if dialect != "spark":
        body = "".join(_quote(piece) for piece in cut_pieces(body))
    return _QUALIFIED.sub(lambda m: m[1] + m[3] + " " * len(m[2]), body)


def _quote(piece: str) -> str:
    named = piece.startswith('"') and len(piece) > 2 and "`" not in piece
    return f"`{piece[1:-1]}`" if named else piece


def _cut_table(text: str) -> tuple[str, str]:
    """The columns of a CREATE TABLE, and what follows them."""
    head = _HEAD.match(text)
    if head is None:
        return "", text
    columns = next(split_at(text[head.end() :], ")"))
    return columns, text[head.end() + len(columns) :]


def _mark_lateness(columns: str) -> str:
    """Columns with a watermark in place of a lateness, as Feldera has it."""
    made = []
    for part in split_at(columns, ","):
        late, named = _LATENESS.search(part), re.match(rf"\s*({_PART})\s", part)
        made.append(_DELAY.sub("", _LATENESS.sub("", part)))
        if late is not None and named is not None:
            made.append(f" WATERMARK FOR {named[1]} AS {named[1]} - INTERVAL '{late[1]}' {late[2]}")
    return ",".join(made)


def _find(tables: Mapping[str, Table], name: str) -> Table | None:
    """The table of a name, in upper or lower case."""
    return next((t for n, t in tables.items() if n.lower() == name.lower()), None)


def _find_exclusion(columns: str, options: str, dialect: Dialect) -> str | None:
    """Why the rows of a table cannot be read as it is declared (None: they can)."""
    connector = _find_option("connector", options)
    form = _find_option("format", options) or ""
    for said in (connector or "", form):
        if _CHANGING.search(said):
            return f"its rows change, as {said!r} says"
    keyed = re.search(r"\bPRIMARY\s+KEY\b", columns, re.I) is not None
    if keyed and dialect in ("feldera", "risingwave", "materialize"):
        return "a row of it replaces the one before with its primary key"
    return None


def _as_stream(relation: Relation, time: str, source: Source) -> Stream:
    """A table without a watermark: the time of a row is when it arrives."""
    columns, keys = relation.columns, relation.keys
    data, references = relation.data, relation.references
    return Stream(
        relation.name, data, time, _MILLISECOND, None, columns, keys, references, source=source
    )


def _is_looked_up(options: str) -> bool:
    """Whether a table without a watermark is read as it is, and not watched for what comes."""
    watched = _WATCHED.search(options) is not None
    return _find_option("connector", options) in _LOOKED_UP and not watched


def _find_option(name: str, options: str) -> str | None:
    found = re.search(_OPTION % re.escape(name), options, re.I)
    return None if found is None else found[1]


def _tell_apart(asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """The same statements; of several with one name, the later ones with their line."""
    seen: set[str] = set()
    made = []
    for one in asked:
        name = one.name if one.name not in seen else f"{one.name}-{one.source.line}"
        seen.add(name)
        made.append(replace(one, name=name))
    return tuple(made)
