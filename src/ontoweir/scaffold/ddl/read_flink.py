"""Read CREATE TABLE as Flink SQL has it, as SQL that others have, and what is only Flink's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ontoweir.mappings.model.catalog import TimeFormat
from ontoweir.mappings.model.parse_duration import UNITS_US

_FLINK = re.compile(r"\bWATERMARK\s+FOR\b|'connector(?:\.type)?'\s*=|\bNOT\s+ENFORCED\b", re.I)
_NAME = r"(?:`[^`]+`|[\w.]+)"
_CREATE = re.compile(
    rf"\s*CREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?({_NAME}(?:\.{_NAME})*)\s*\(",
    re.I,
)
_WATERMARK = re.compile(rf"WATERMARK\s+FOR\s+({_NAME})\s+AS\s+(.*)", re.I | re.S)
_DELAY = re.compile(r"-\s*INTERVAL\s+'(\d+)'\s+(SECOND|MINUTE|HOUR|DAY)S?\s*(?:\(\d\)\s*)?$", re.I)
_PROCESSED = re.compile(r"PROCTIME\s*\(", re.I)
_COMPUTED = re.compile(rf"({_NAME})\s+AS\s+(.*)", re.I | re.S)
_COLUMN = re.compile(rf"({_NAME})\s+(.*)", re.S)
_ROW = re.compile(rf"\s*({_NAME})\s+ROW\s*<(.*)>(?:\s+NOT\s+NULL)?\s*$", re.I | re.S)
_EPOCH = re.compile(rf"TO_TIMESTAMP_LTZ\s*\(\s*({_NAME})\s*,\s*([03])\s*\)$", re.I)
_METADATA = re.compile(r"\bMETADATA\b(?:\s+FROM\s+'[^']*')?(?:\s+VIRTUAL)?", re.I)
_LOCAL = re.compile(r"\bTIMESTAMP\s*(?:\(\d\)\s*)?WITH\s+(?:LOCAL\s+)?TIME\s+ZONE", re.I)
_PRECISE = re.compile(r"\b(TIMESTAMP(?:_LTZ)?|TIME)\s*\(\d\)", re.I)
_PARTS = re.compile(r"'(?:[^']|'')*'|`[^`]*`|--[^\n]*|/\*.*?\*/|[(),;<>]|[^'`(),;<>/-]+|.", re.S)


@dataclass(frozen=True, slots=True)
class FlinkTable:
    """A CREATE TABLE: its text in SQL that Spark has, and the line where it begins; the time that
    its watermark is of (None: there is none), how it is made of another column, and how long the
    watermark stays behind (µs); columns that are nested or computed, by name;
    and the one that says when a program comes to a row."""

    sql: str
    line: int
    time: str | None
    written: TimeFormat | None
    delay_us: int | None
    left_out: tuple[str, ...]
    processed: str | None = None


def is_flink(text: str) -> bool:
    """Whether SQL declares tables as Flink does: with watermarks, connectors, or keys that nobody
    enforces."""
    return _FLINK.search(text) is not None


def read_flink(text: str, *, nested: bool = False) -> Iterator[FlinkTable]:
    """The tables that a text creates.

    Args:
        text: of Flink SQL; other statements are passed over.
        nested: members of a ROW are columns: `customer ROW<id INT>` has `customer_id`.
    """
    place = 0
    for statement in split_at(text, ";"):
        plain = _leave_comments(statement)
        begun = _CREATE.match(plain)
        if begun is not None:
            lead = len(statement) - len(statement.lstrip())
            line = text.count("\n", 0, place + lead) + 1
            yield _read_table(begun[1], plain[begun.end() :], line, nested=nested)
        place += len(statement) + 1


def list_members(column: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The members of a column that is a ROW, with the names that lead to them, and their types,
    without those of arrays and maps (of other columns: nothing).

    >>> list(list_members("who ROW<id INT, at ROW<zip STRING>, tags ARRAY<STRING>>"))
    [(('who', 'id'), 'INT'), (('who', 'at', 'zip'), 'STRING')]
    """
    row = _ROW.match(column)
    if row is None:
        return
    for member in map(str.strip, split_at(row[2], ",")):
        named = _COLUMN.match(member)
        if named is None:
            continue
        if "<" not in member:
            yield (_bare(row[1]), _bare(named[1])), named[2]
        for path, kind in list_members(member):
            yield (_bare(row[1]), *path), kind


def _read_table(name: str, rest: str, line: int, *, nested: bool) -> FlinkTable:
    kept: list[str] = []
    left_out: list[str] = []
    computed: dict[str, str] = {}
    time, delay = None, None
    for part in map(str.strip, split_at(next(split_at(rest, ")")), ",")):
        if (mark := _WATERMARK.match(part)) is not None:
            time = _bare(mark[1])
            later = _DELAY.search(mark[2].strip())
            delay = 0 if later is None else int(later[1]) * UNITS_US[later[2].lower()]
        elif re.match(r"(?:CONSTRAINT\s+\S+\s+)?(?:PRIMARY\s+KEY|UNIQUE)\b", part, re.I):
            kept.append(re.sub(r"\bNOT\s+ENFORCED\b", "", part, flags=re.I))
        elif (made := _COMPUTED.match(part)) is not None:
            computed[_bare(made[1])] = made[2].strip()
        elif nested and (members := [*list_members(part)]):
            kept += [f"`{'_'.join(path)}` {_plain(kind)}" for path, kind in members]
        elif "<" in part and (column := _COLUMN.match(part)) is not None:
            left_out.append(_bare(column[1]))
        elif part:
            kept.append(_plain(part))
    written = None
    if time is not None and time in computed:  # the data is to have it, or what it is made of
        found = _EPOCH.match(computed.pop(time))
        if found is not None:
            form = "epoch_s" if found[2] == "0" else "epoch_ms"
            written = TimeFormat(form, (_bare(found[1]),))
        kept.append(f"`{time}` TIMESTAMP")
    sql = f"CREATE TABLE {name} ({', '.join(kept)})"
    processed = next((n for n, e in computed.items() if _PROCESSED.match(e)), None)
    return FlinkTable(sql, line, time, written, delay, (*left_out, *computed), processed)


def _plain(part: str) -> str:
    """A column as SQL has it that others read, too."""
    return _PRECISE.sub(r"\1", _METADATA.sub("", _LOCAL.sub("TIMESTAMP_LTZ", part)))


def _bare(name: str) -> str:
    return name.strip("`")


def _leave_comments(statement: str) -> str:
    parts = _PARTS.findall(statement)
    return "".join(" " if p.startswith(("--", "/*")) else p for p in parts)


def split_at(text: str, mark: str) -> Iterator[str]:
    """The parts between marks that are neither quoted, nor in a comment, nor in brackets."""
    depth, held = 0, ""
    for part in _PARTS.findall(text):
        if part == mark and not depth:
            yield held
            held = ""
            continue
        depth += (part in ("(", "<")) - (part in (")", ">"))
        held += part
    yield held
