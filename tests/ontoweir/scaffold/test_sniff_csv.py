"""`ontoweir init --from` of CSV as spreadsheets, devices and other programs write it."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ontoweir.errors import DataError
from ontoweir.scaffold.sniff_csv import sniff_csv
from tests.ontoweir.conftest import Run

HEADER = {"header": "true"}


@pytest.mark.parametrize(
    ("content", "options", "names"),
    [
        (b"ts,v\n2026-01-01,1.5\n", HEADER, ("ts", "v")),
        (b"ts;v\r\n2026-01-01;1,5\r\n", {**HEADER, "sep": ";", "decimal": ","}, ("ts", "v")),
        (b"ts;v\n2026-01-01;1.5\n", {**HEADER, "sep": ";"}, ("ts", "v")),
        (b"a;v;w\nx;1,5;1.5\n", {**HEADER, "sep": ";"}, ("a", "v", "w")),  # both: not certain
        (b"\xef\xbb\xbfts\tv\n2026-01-01\t1\n", {**HEADER, "sep": "\t"}, ("ts", "v")),
        (b"a|b\n1,5|x\n", {**HEADER, "sep": "|", "decimal": ","}, ("a", "b")),
        (b"Stra\xdfe,v\nx,1\n", {**HEADER, "encoding": "windows-1252"}, ("Straße", "v")),
        (b"Stra\xc3\x9fe,v\nx,1\n", HEADER, ("Straße", "v")),
        (b'a,b\n"x""y",1\n', {**HEADER, "escape": '"'}, ("a", "b")),
        (b'a,b\n"x\\"y",1\n', HEADER, ("a", "b")),
        (b'a,b\n"x\ny",1\n', {**HEADER, "escape": '"', "multiLine": "true"}, ("a", "b")),
        (b'a;b\n5" pipe;1\nx;2\n', {**HEADER, "sep": ";", "quote": "~"}, ("a", "b")),
        (b'a;b\n"x";1\n"~";2\nsaid "no";3\n', {**HEADER, "sep": ";", "quote": "^"}, ("a", "b")),
        (b"1767225600,h,5\n1767225605,h,6\n", {}, ("_c0", "_c1", "_c2")),
        (b"2026-01-01T00:00:00,h\n", {}, ("_c0", "_c1")),
        (b"country,2014,2015\nx,1,2\n", HEADER, ("country", "2014", "2015")),
        (b",co2\n1958-03-29,316.1\n", HEADER, ("_c0", "co2")),
        (b"n,t\nNone,None\nNone,x\n1,n/a\n", {**HEADER, "nullValue": "None"}, ("n", "t")),
        (
            b"n,t\n1,None\nNULL,None\n",
            {**HEADER, "nullValue": "None", "nullValues": "NULL"},
            ("n", "t"),
        ),
        (
            b"n;t\n1.234,5;x\n---;x\n7;x\n---;x\nk. A.;---\n",
            {**HEADER, "sep": ";", "decimal": ",", "thousands": "."}
            | {"nullValue": "---", "nullValues": "k. A."},
            ("n", "t"),
        ),
        (b"n;t\n1.234;x\n7.250;x\n", {**HEADER, "sep": ";"}, ("n", "t")),  # three decimals
        (b"n;t\n1.234;x\n7;x\n", {**HEADER, "sep": ";"}, ("n", "t")),  # not certain
        (
            b'n,t\n"1,234.50",x\n7.10,x\n',
            {**HEADER, "escape": '"', "thousands": ","},
            ("n", "t"),
        ),
        (b"n,t\n1'234.5,x\n7.10,x\n", {**HEADER, "thousands": "'"}, ("n", "t")),
        (b"n,t\n12.5%,3 kWh\n7%,4 kWh\n", {**HEADER, "units": "%|kWh"}, ("n", "t")),
        (
            b"n;t\n1.234,5 m;12A\n7 m;13A\n",
            {**HEADER, "sep": ";", "decimal": ",", "thousands": ".", "units": "m"},
            ("n", "t"),
        ),
        (b"n,t\n12 m,3 of\n7 km,4\n", HEADER, ("n", "t")),  # not one unit
        (b"n,t\non,1\noff,2\nunavailable,3\n", HEADER, ("n", "t")),  # no numbers
    ],
)
def test_how_it_is_written(
    tmp_path: Path, content: bytes, options: dict[str, str], names: tuple[str, ...]
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    found = sniff_csv(tmp_path / "a.csv")
    assert (dict(found.options), found.names) == (options, names)


def test_utf_16_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ts,v\n", encoding="utf-16")
    with pytest.raises(DataError, match="iconv -f UTF-16"):
        sniff_csv(tmp_path / "a.csv")


def _answers(run: Run, query: str, project: Path) -> list[dict[str, Any]]:
    ran = run("show", query, project, "--format", "jsonl", "-q", "--limit", "9999")
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def _catalog(project: Path) -> dict[str, Any]:
    return tomllib.loads((project / "ontoweir.toml").read_text(encoding="utf-8"))


def test_from_a_spreadsheet_to_an_answer(run: Run, tmp_path: Path) -> None:
    rows = ["Zähler Nr.;Datum;Uhrzeit;Verbrauch [kWh];Bemerkung"]
    for n in range(96):
        note = '"neu\n""geeicht"""' if n == 7 else ""
        rows.append(f"{1000 + n % 2};{1 + n // 24:02}.03.2026;{n % 24:02}:15;{n},{n % 10};{note}")
    file = tmp_path / "Zählerstände.csv"
    file.write_text("\r\n".join(rows).replace('"neu\r\n', '"neu\n'), encoding="utf-8-sig")
    project = tmp_path / "p"
    ran = run("init", project, "--from", file)
    assert ran.code == 0, ran.err
    (name, stream), *rest = _catalog(project)["streams"].items()
    assert (name, rest) == ("zaehlerstaende", [])
    assert stream["timestamp"] == {
        "column": "ts",
        "unit": "15 minutes",
        "format": "%d.%m.%Y %H:%M",
        "from": ["Datum", "Uhrzeit"],
    }
    assert stream["columns"]["Verbrauch [kWh]"] == "double"
    assert run("check", project, "--data", "-q").code == 0
    above = _answers(run, "zaehlerstaende-above", project)
    assert [row["value"] for row in above][-1] == 95.5
    assert above[-1]["it"].endswith("/1001")
    days = _answers(run, "zaehlerstaende-by-day", project)  # of what is read each hour
    assert len(days) == 6  # of two meters; the last day is not over
    assert (days[0]["rows"], round(days[0]["average"], 6)) == (12, 11.35)


def test_a_packed_file_of_a_device(run: Run, tmp_path: Path) -> None:
    rows = [f"{1767225600 + 5 * n}\thost{n % 3}\t{n % 80}" for n in range(300)]
    with gzip.open(tmp_path / "load.tsv.gz", "wt") as opened:
        opened.write("\n".join(rows) + "\n")
    project = tmp_path / "p"
    ran = run("init", project, "--from", tmp_path / "load.tsv.gz")
    assert ran.code == 0, ran.err
    stream = _catalog(project)["streams"]["load"]
    assert stream["source"]["options"] == {"sep": "\t"}
    assert stream["timestamp"] == {"column": "_c0", "unit": "5 seconds", "format": "epoch_s"}
    assert stream["columns"]["_c1"]["enum"] == ["host0", "host1", "host2"]
    now = {}
    for row in _answers(run, "load-latest", project):
        if row["op"] == "+":
            now[row["it"].rpartition("/")[2]] = row["value"]
    assert now == {"host0": 57, "host1": 58, "host2": 59}


def test_numbers_of_rows_are_not_what_rows_are_about(run: Run, tmp_path: Path) -> None:
    """As pandas writes its index, and ships are numbered."""
    rows = [
        f"{n},{n % 4},{55 + n / 1000},A,{n % 50 / 10},2026-01-01 00:00:{n // 4:02}"
        for n in range(200)
    ]
    text = "\n".join([",MMSI,Latitude,Type of mobile,SOG,# Timestamp", *rows])
    (tmp_path / "ais.csv").write_text(text + "\n")
    project = tmp_path / "p"
    ran = run("init", project, "--from", tmp_path / "ais.csv")
    assert ran.code == 0, ran.err
    stream = _catalog(project)["streams"]["ais"]
    assert stream["keys"] == [["MMSI", "# Timestamp"]]
    assert ":sog ?value" in (project / "queries" / "ais-above.rq").read_text()
    assert _answers(run, "ais-above", project)[-1]["it"].startswith("http://p.example/mmsi/")


def test_relations_have_as_many_rows_as_were_seen(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "ts,room,c\n" + "".join(f"2026-01-01 00:00:{n:02},r{n % 3},{n}\n" for n in range(60))
    )
    (tmp_path / "rooms.csv").write_text("room,floor\n" + "".join(f"r{n},{n}\n" for n in range(3)))
    project = tmp_path / "p"
    assert run("init", project, "--from", tmp_path / "r.csv", tmp_path / "rooms.csv").code == 0
    assert _catalog(project)["relations"]["rooms"]["max_rows"] == 3
    (checked,) = json.loads(
        run("check", project, "--query", "r-by-minute", "--format", "json", "-q").out
    )
    assert checked["bound"]["rows"] == 6


def test_names_of_what_is_not_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "ts,room,c\n" + "".join(f"2026-01-01 00:00:{n:02},r{n % 3},{n}\n" for n in range(60))
    )
    project = tmp_path / "p"
    assert run("init", project, "--from", tmp_path / "r.csv").code == 0
    asked = "SELECT r.room, AVG(r.c), COUNT(*) FROM r GROUP BY r.room"
    row = _answers(run, asked, project)[0]
    assert {"room", "AVG(r.c)", "COUNT(*)"} <= row.keys()
    ran = run("show", "SELECT nothing FROM r", project)
    assert ran.err.startswith("query.sql:1: ")
    ran = run("lint", project)
    assert (ran.code, "check --mappings-only" in ran.err) == (2, True)


def test_lists_that_begin_with_the_latest(run: Run, tmp_path: Path) -> None:
    """As `git log` has them, with separators and quotes in some texts."""
    rows = [
        f"{n:040x};{1767225600 + 7 * n};a{n % 3};" + ('a "word"; two' if n % 9 == 5 else "one")
        for n in range(200)
    ]
    (tmp_path / "log.csv").write_text("\n".join(reversed(rows)) + "\n")
    project = tmp_path / "p"
    ran = run("init", project, "--from", tmp_path / "log.csv")
    assert ran.code == 0, ran.err
    stream = _catalog(project)["streams"]["log"]
    assert stream["source"]["sort"] is True
    assert stream["timestamp"]["column"] == "_c1"
    minutes = _answers(run, "log-by-minute", project)
    assert 190 <= sum(row["rows"] for row in minutes) < 200  # all but those of the last minute
    assert run("check", project, "--data", "-q").code == 0
