"""Read what is declared of messages: those that say how a table changes, change data capture; and
where those of MQTT come from, and the schemas of Kafka's; and where files go that are read."""

from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

from ontoweir.files.find_base import find_base
from ontoweir.mappings.model.catalog import BooleanType, Column, Envelope, Relation, Stream
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.read_table import TomlTable, did_you_mean

REGISTRY = ("url", "user", "password", "ca", "certificate", "key", "key_password")
"""What is said of a schema registry; these are files of PEM, but the first three."""
_FORMATS = ("json", "kafka", "mqtt")
_FORMS = ("debezium", "upsert")
_MQTT = ("host", "port", "topic", "qos", "client_id", "username", "password")
_CONNECTION = ("tls", "ca_file", "keepalive", "received", "value")
_FILES = ("maxFilesPerTrigger", "maxFileAge")
"""Options of the files that messages are written to."""
_Options = tuple[tuple[str, str], ...]
ARCHIVED = ("parquet", "csv", "json", "mqtt", "arrow", "avro")
"""Formats of files that a live run may move away when they are read."""


def read_envelope(source: TomlTable) -> Envelope | None:
    """What the `source` of a stream says of its messages (None: each is a row as it is).

    Raises:
        CatalogError: it is not declared as an envelope is; with its line.
    """
    written, delete = source.text("envelope"), source.text("delete")
    if written is None:
        if delete is not None:
            raise source.error(
                "delete",
                f"[{source.name()}] has delete, and no envelope",
                why="it names the column that an envelope fills: true where a row is deleted",
                fix='add envelope = "debezium" or "upsert", or remove delete',
            )
        return None
    source.need("delete", '"deleted", a boolean column: true where a row is deleted')
    form = _find_form(source, written)
    if source.text("format") not in _FORMATS or "unnest" in source.values:
        raise source.error(
            "envelope",
            f"[{source.name()}] has an envelope, and "
            + ("unnest" if "unnest" in source.values else f"format = {source.text('format')!r}"),
            why="an envelope is one JSON object for each change of a row",
            fix="remove unnest"
            if "unnest" in source.values
            else 'write format = "json" (lines of JSON) or "kafka"',
        )
    return Envelope(form, delete or "")


def read_archive(source: TomlTable) -> str | None:
    """The folder that a live run moves a stream's files to when all have read them (None: they
    stay).

    Raises:
        CatalogError: its data is not local files, or it is no folder beside theirs.
    """
    archive, path = source.text("archive"), source.text("path") or ""
    if archive is None:
        return None
    if source.text("format") not in ARCHIVED or not path or "://" in f"{path}{archive}":
        raise source.error(
            "archive",
            f"[{source.name()}] has an archive",
            why="only local files are moved: of Parquet, CSV, JSON lines, Arrow, Avro, and those "
            "that MQTT's messages are written to",
            fix="remove archive",
        )
    if set(archive) & set("*?[]{}=") or not archive.strip("/"):
        raise source.error(
            "archive",
            f"[{source.name()}] has archive = {archive!r}",
            why="it names one folder, and = in a folder's name says a column of its files",
            fix='write it as "archive/NAME"',
        )
    return archive


def check_archives(
    streams: Mapping[str, Stream], relations: Mapping[str, Relation], streams_table: TomlTable
) -> None:
    """Nothing, if no folder from which files are moved, and none that they are moved to, has those
    of another table.

    Raises:
        CatalogError: one has, or an archive is in its own folder, or around it.
    """
    tables: list[Stream | Relation] = [*streams.values(), *relations.values()]
    places = {t.name: find_base(t.data.path) for t in tables if t.data.path and not t.data.view}
    for stream in streams.values():
        archive = stream.data.archive
        if archive is None:
            continue
        others = [(archive, name, place) for name, place in places.items()]
        for table in tables:
            if table.name != stream.name:
                others += [(places[stream.name], table.name, places.get(table.name, ""))]
                others += [(archive, table.name, table.data.archive or "")]
                others += [(places[stream.name], table.name, table.data.archive or "")]
        for mine, name, place in others:
            if place and _overlap(mine, place):
                raise (
                    streams_table.table(stream.name)
                    .table("source")
                    .error(
                        "archive",
                        f"{mine} is, has, or is in, the folder {place} of {name}",
                        why="files that are moved from one to the other would be read twice, or be "
                        "moved before all have read them",
                        fix="give each stream a folder, and an archive beside all of them",
                    )
                )


def _overlap(one: str, other: str) -> bool:
    """Whether one of two folders is the other, or in it.

    >>> [_overlap("/a/b", other) for other in ("/a/b/", "/a", "/a/b/c", "/a/bc")]
    [True, True, True, False]
    """
    one, other = f"{one.rstrip('/')}/", f"{other.rstrip('/')}/"
    return one.startswith(other) or other.startswith(one)


def _find_form(source: TomlTable, written: str) -> Literal["debezium", "upsert"]:
    match written:
        case "debezium":
            return "debezium"
        case "upsert":
            return "upsert"
        case _:
            raise source.error(
                "envelope",
                f"the envelope {written!r} is not known",
                why="messages are debezium's (before, after, op), or upserts (a key, and a value "
                "that is null where the key is deleted)",
                fix=did_you_mean(written, _FORMS),
            )


def check_envelope(table: TomlTable, envelope: Envelope | None, columns: Sequence[Column]) -> None:
    """Nothing, if a stream's columns and timestamp go with its envelope.

    Args:
        table: the stream's.
        envelope: that of its source.
        columns: without the timestamp.

    Raises:
        CatalogError: `delete` is no boolean column that the envelope may fill, or the timestamp
            is not one that every message has; with its line.
    """
    if envelope is None:
        return
    source, time = table.table("source"), table.table("timestamp")
    column = next((c for c in columns if c.name == envelope.delete), None)
    if column is None or not isinstance(column.type, BooleanType) or column.path is not None:
        said = (
            "no column"
            if column is None
            else f"from {column.path!r}"
            if column.path is not None
            else name_column_type(column.type)
        )
        raise source.error(
            "delete",
            f"{table.path[-1]}.{envelope.delete} is {said}",
            why="delete names a boolean column, which the envelope fills: true where a row is "
            "deleted",
            fix=f'declare {envelope.delete} = "boolean" in [{table.name()}.columns]',
        )
    places = time.texts("from")
    if not places:
        raise time.error(
            "column",
            f"the timestamp of {table.path[-1]} has no from",
            why="of a message in an envelope it must be said whose time counts",
            fix='add from = ["source.ts_ms"] (when the row was changed), or ["ts_ms"], and '
            'format = "epoch_ms"'
            if envelope.form == "debezium"
            else 'add from = ["timestamp"] (of the message) and format = "epoch_ms"',
        )
    late = [p for p in places if p.partition(".")[0] == "value"]
    if envelope.form == "upsert" and late:
        raise time.error(
            "from",
            f"the timestamp is from {late[0]!r}",
            why="a message that deletes its key has no value, and so would have no time",
            fix='write from = ["timestamp"], of the message, and format = "epoch_ms"; or a path '
            "that begins with key",
        )


def read_mqtt(source: TomlTable, options: _Options, *, static: bool) -> tuple[_Options, _Options]:
    """The options of a source of MQTT: of its files, and of the connection.

    Raises:
        CatalogError: one is missing, or is none; with its line.
    """
    if static:
        raise source.error(
            "format",
            f"[{source.name()}] has format = 'mqtt'",
            why="messages come for ever, and a relation does not change",
            fix="declare a stream, and a relation with versions of it",
        )
    source.need("path", '"arrivals", the folder that `ontoweir receive` writes messages to')
    given, table = dict(options), source.table("options")
    table.need("host", '"broker.example"')
    table.need("topic", '"sensors/{device}/temp"')
    known = (*_MQTT, *_CONNECTION)
    for name, text in options:
        if name not in (*known, *_FILES):
            raise table.error(
                name,
                f"the option {name!r} of MQTT is not known",
                why=f"there are {', '.join(known)}",
                fix=did_you_mean(name, known),
            )
        numeric = name in ("port", "keepalive") and not text.startswith("env:")
        if numeric and not (text.isascii() and text.isdigit() and 0 < int(text) < 65_536):
            raise table.wrong(name, "a number from 1 to 65535")
    if given.get("tls", "false") not in ("true", "false"):
        raise table.wrong("tls", '"true" or "false"')
    if given.get("qos", "1") not in ("0", "1"):
        raise table.error(
            "qos",
            f"qos = {given['qos']!r}",
            why="with 1 each message is acknowledged once it is on the disk; with 2 one could be "
            "lost by a receiver that is killed before",
            fix='write qos = "1"; a row that comes twice is told by the keys of the stream',
        )
    _check_topic(table, given["topic"])
    _check_members(table, given)
    files = tuple((n, text) for n, text in options if n in _FILES)
    return files, tuple((n, text) for n, text in options if n in known)


def read_registry(source: TomlTable) -> _Options:
    """Which schema registry a stream's messages of Kafka name their schemas of (none: of none).

    Raises:
        CatalogError: it is not declared as one is; with its line.
    """
    if "registry" not in source.values:
        return ()
    if source.text("format") != "kafka":
        raise source.error(
            "registry",
            f"[{source.name()}] has a registry, and format = {source.text('format')!r}",
            why="messages of Kafka name their schemas by numbers; files have theirs with them",
            fix="remove registry",
        )
    if isinstance(source.values["registry"], str):
        given, table = {"url": source.text("registry") or ""}, source
    else:
        table = source.table("registry")
        table.refuse_unknown(REGISTRY)
        table.need("url", '"https://registry.example:8081"')
        given = {name: table.text(name) or "" for name in table.values}
    parts = urlsplit(given["url"])
    plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if not plain and not given["url"].startswith("env:"):
        raise table.error(
            "registry" if table is source else "url",
            f"the schema registry's URL is {_hide_login(given['url'])!r}",
            why="schemas are asked for by HTTP; a login is written beside the URL",
            fix='write registry = { url = "https://registry.example:8081", user = "env:NAME", '
            'password = "env:NAME" }, without a login "http://registry.example:8081"',
        )
    for name, other in (("password", "user"), ("key", "certificate"), ("key_password", "key")):
        if name in given and other not in given:
            table.need(other, f'"…", beside {name}')
    return tuple(given.items())


def _hide_login(url: str) -> str:
    """A URL without what may be secret in it.

    >>> _hide_login("http://me:pw@registry")
    'http://***@registry'
    """
    scheme, slashes, rest = url.rpartition("//")
    login, at, host = rest.rpartition("@")
    return f"{scheme}{slashes}{'***' if login else ''}{at}{host}"


def _check_members(table: TomlTable, given: Mapping[str, str]) -> None:
    """Raise CatalogError where two of what lines have beside a message's own members have one
    name."""
    levels = [x[1:-1] for x in given["topic"].split("/") if x.startswith("{")]
    named = [(name, given[name]) for name in ("received", "value") if name in given]
    for place, (option, name) in enumerate(named):
        if not name or name in levels or name in [n for _, n in named[:place]]:
            raise table.error(
                option,
                f"the option {option} is {name!r}",
                why="it names a member of its own of each line: received, the time when a message "
                "came; value, what a message is that is no object",
                fix=f'write {option} = "{option}", or another name that the topic has not',
            )


def _check_topic(table: TomlTable, topic: str) -> None:
    """Raise CatalogError for what is no topic of levels, wildcards and names in braces."""
    levels = topic.split("/")
    names = [x[1:-1] for x in levels if x.startswith("{") and x.endswith("}")]
    plain = [x for x in levels if x != "+" and not (x.startswith("{") and x.endswith("}"))]
    if levels[-1] == "#":
        plain.pop()
    wrong = any(c in x for x in (*plain, *names) for c in "+#{}\0") or "" in names
    if topic and not wrong and len(set(names)) == len(names) and levels[0] != "$share":
        return
    raise table.error(
        "topic",
        f"the topic {topic!r} is none that can be received",
        why="a level is text, + for any, or a name in braces for any whose text is a column, and "
        "the last may be # for all below; a subscription is not shared",
        fix='write it as "sensors/{device}/temp"',
    )
