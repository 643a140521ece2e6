"""What programs log, as a table: lines that begin with the time of an event, and have a level."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ontoweir.errors import DataError, Source

_TIME = re.compile(
    r"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\d*(?:Z|\s?[+-]\d\d:?\d\d)?)\]?(?=\W|$)"
)
_LEVEL = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)\b", re.IGNORECASE
)
_BEFORE = 80
"""A level is among so many characters after the time."""
_LOOKED, _SHARE = 200, 0.9
"""Of so many lines such a share of those that begin with a time have a level."""
_NO_YEAR = re.compile(r"(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ")
_PARTS = " \t-|:[](){},"


def is_log(head: str) -> bool:
    """Whether the first lines of a file are a log: they begin with times, and have levels; others,
    as those of a stack trace, go on with what is above them.

    >>> is_log("2026-03-01 10:00:00,123 INFO main: begun\\n2026-03-01 10:00:07,004 WARN main: slow")
    True
    """
    lines = [line for line in head.splitlines()[:_LOOKED] if line.strip()]
    timed = [found.end() for line in lines if (found := _TIME.match(line)) is not None]
    if len(timed) < 2 or _TIME.match(lines[0]) is None:
        return False
    levels = sum(
        _LEVEL.search(line, found.end(), found.end() + _BEFORE) is not None
        for line in lines
        if (found := _TIME.match(line)) is not None
    )
    return levels >= _SHARE * len(timed)


def refuse_without_year(file: Path, head: str) -> None:
    """
    Raises:
        DataError: the lines of a log begin with times that have no year, as syslog's.
    """
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    if lines and all(_NO_YEAR.match(line) for line in lines):
        raise DataError(
            f"the times of the log have no year: {lines[0][:60].strip()}",
            why="a stream has a time that goes on, over the end of a year too",
            fix="log them with one, as `journalctl -o short-iso` and rsyslog's "
            "RSYSLOG_FileFormat do; or put the year before each line",
            source=Source(str(file), 1),
        )


def export_log(file: Path, folder: Path) -> Path:
    """The events of a log as JSON lines: `time`, `level`, `logger` (what is between them, where
    there is something), and `text`, with the lines below that begin with no time.

    Args:
        file: the log.
        folder: for the table.

    Raises:
        OSError: it cannot be read.
    """
    target = folder / f"{file.stem}.jsonl"
    events = list(_read_events(file))
    some = any(logger for _, _, logger, _ in events)
    with target.open("w", encoding="utf-8") as written:
        for time, level, logger, text in events:
            row = {"time": time, "level": level, **({"logger": logger} if some else {})}
            written.write(json.dumps({**row, "text": text}, ensure_ascii=False) + "\n")
    return target


def _read_events(file: Path) -> Iterator[tuple[str, str | None, str | None, str]]:
    """Time, level, logger and text of each event."""
    last: tuple[str, str | None, str | None, str] | None = None
    with file.open(encoding="utf-8-sig", errors="replace") as opened:
        for line in opened:
            found = _TIME.match(line)
            if found is not None:
                if last is not None:
                    yield last
                last = _read_line(found[1], line[found.end() :])
            elif last is not None and line.strip():
                last = (*last[:3], f"{last[3]}\n{line.rstrip()}")
    if last is not None:
        yield last


def _read_line(time: str, rest: str) -> tuple[str, str | None, str | None, str]:
    time = re.sub(r"\s(?=[+-]\d\d:?\d\d$)", "", time.replace(",", "."))
    level = _LEVEL.search(rest, 0, _BEFORE)
    if level is None:
        return time, None, None, rest.strip(_PARTS + "\n")
    logger = rest[: level.start()].strip(_PARTS)
    return time, level[1].upper(), logger or None, rest[level.end() :].lstrip(_PARTS).rstrip()
