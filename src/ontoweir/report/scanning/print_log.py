"""Print a SARIF log: as it is, or as annotations of GitHub."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TextIO, TypeAlias
from urllib.parse import unquote, urlsplit

ScanFormat: TypeAlias = Literal["sarif", "github"]
"""`github`: workflow commands, of which GitHub makes annotations at the lines of a change."""

_COMMANDS: Mapping[str, str] = {"error": "error", "warning": "warning", "note": "notice"}


def print_log(log: Mapping[str, Any], form: ScanFormat, out: TextIO) -> None:
    """Print a log of one run.

    Args:
        log: as `render_sarif` makes it.
        form: sarif: the log itself, as JSON; github: one line a result, `::error file=…,line=…::…`.
        out: where to.
    """
    if form == "sarif":
        print(json.dumps(log, indent=2, ensure_ascii=False), file=out)
        return
    titles = {r["id"]: r["shortDescription"]["text"] for r in _run(log)["tool"]["driver"]["rules"]}
    for result in _run(log)["results"]:
        print(_annotate(result, titles), file=out)


def _run(log: Mapping[str, Any]) -> Mapping[str, Any]:
    run: Mapping[str, Any] = log["runs"][0]
    return run


def _annotate(result: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    fields = dict(_place(result))
    fields["title"] = f"{titles[result['ruleId']]} ({result['ruleId']})"
    listed = ",".join(f"{name}={_escape(value, ':,')}" for name, value in fields.items())
    text = re.sub(r"\{\{(\d+)\}\}", r"{\1}", result["message"]["text"])  # no placeholder here
    return f"::{_COMMANDS[result['level']]} {listed}::{_escape(text)}"


def _place(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """File, line, and the marked columns of it, from 1."""
    for location in result["locations"][:1]:
        physical = location["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        yield "file", unquote(urlsplit(uri).path if uri.startswith("file:") else uri)
        region = physical["region"]
        yield "line", str(region["startLine"])
        if (
            "endColumn" in region
            and region.get("endLine", region["startLine"]) == region["startLine"]
        ):
            yield "col", str(region["startColumn"])
            yield "endColumn", str(region["endColumn"])


def _escape(text: str, more: str = "") -> str:
    """Text within a workflow command: % and line breaks, in properties also : and ,."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
