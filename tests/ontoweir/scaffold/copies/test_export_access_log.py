"""Logs of web servers as tables."""

import csv
from pathlib import Path

import pytest

from ontoweir.errors import DataError
from ontoweir.scaffold.copies.export_access_log import export_access_log, is_access_log

LOG = """\
10.0.0.1 - ada [01/Feb/2026:00:30:00 +0100] "GET /a?b=1,2 HTTP/1.1" 200 512 "-" "say \\"hi\\""
::1 - - [01/Feb/2026:00:30:01 +0100] "\\x16\\x03" 400 -
::2 - - [01/Feb/2026:00:30:02 +0100] "POST /p HTTP/2.0" 201 7 "https://x.example/" "curl/8" 0.03
"""


def test_each_request_is_a_row(tmp_path: Path) -> None:
    """Times in UTC, `-` as NULL; what is no request of HTTP, and what follows, are no trouble."""
    log = tmp_path / "access.log"
    log.write_text(LOG)
    table = export_access_log(log, tmp_path)
    with table.open(newline="") as opened:
        head, *rows = csv.reader(opened)
    assert head[:6] == ["time", "client", "username", "method", "path", "status"]
    first = ["2026-01-31T23:30:00Z", "10.0.0.1", "ada", "GET", "/a?b=1,2", "200", "512"]
    last = ["2026-01-31T23:30:02Z", "::2", "", "POST", "/p", "201", "7"]
    assert rows == [
        [*first, "", 'say "hi"'],
        ["2026-01-31T23:30:01Z", "::1", "", "", "\\x16\\x03", "400", "", "", ""],
        [*last, "https://x.example/", "curl/8"],
    ]


@pytest.mark.parametrize(
    "line", ["oops", LOG.splitlines()[1].replace("Feb", "Foo"), LOG.splitlines()[1][:-6]]
)
def test_a_line_that_is_none(line: str, tmp_path: Path) -> None:
    """It is named, and no row is lost without a word."""
    log = tmp_path / "access.log"
    log.write_text(f"{LOG}{line}\n")
    with pytest.raises(DataError, match=r"access\.log:4: the line is no request"):
        export_access_log(log, tmp_path)


def test_what_is_none(tmp_path: Path) -> None:
    """Twins: an error log, and an empty file."""
    assert is_access_log(LOG)
    assert not is_access_log("[Sun Feb 01 00:30:00 2026] [error] [client ::1] not found\n")
    assert not is_access_log("\n")
