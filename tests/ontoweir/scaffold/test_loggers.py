"""`ontoweir init --from` of what data loggers and agencies write: lines before the header, units
below it, comments, marks of what is missing, days and months either of which may come first."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run
from tests.ontoweir.scaffold.test_other_shapes import _init, _show

CLOCKS = [f"{n // 4:02}:{n % 4 * 15:02}" for n in range(96)]
LOGGER = [
    '"TOA5","Site1","CR1000","1234","Std.27","CPU:p.CR1"',
    '"TIMESTAMP","RECORD","AirT"',
    '"TS","RN","Deg C"',
    '"","","Avg"',
    *(f'"2026-03-01 {clock}:00",{n},{n}.25' for n, clock in enumerate(CLOCKS)),
]
AGENCY = [
    "# Data for the following site",
    "#",
    "site\tdatetime\tflow",
    "15s\t20d\t14n",
    *(f"016465\t2026-03-01 {clock}\t{n}" for n, clock in enumerate(CLOCKS)),
]
REPORT = [
    "Report;plant 4",
    "",
    "Machine;Time;Bar",
    ";;bar",
    *(f"M1;01.03.2026 {clock};{n},25" for n, clock in enumerate(CLOCKS)),
]
MARKED = ["# by hand", "# time, level", *(f"2026-03-01T{c}Z,{n}" for n, c in enumerate(CLOCKS))]


@pytest.mark.parametrize(
    ("file", "rows", "options", "asked"),
    [
        ("a.csv", LOGGER, {"skip": "1", "skipAfterHeader": "2"}, "AirT = 95.25"),
        ("a.txt", AGENCY, {"comment": "#", "skipAfterHeader": "1"}, "flow = 95"),
        ("a.csv", REPORT, {"skip": "2", "skipAfterHeader": "1"}, "Bar = 95.25"),
        ("a.csv", MARKED, {"skip": "1", "names": "time|level"}, "level = 95"),
    ],
)
def test_lines_that_are_no_rows(
    run: Run, tmp_path: Path, file: str, rows: list[str], options: dict[str, str], asked: str
) -> None:
    stream = _init(run, tmp_path, file, rows)["a"]
    given = stream["source"]["options"]
    assert {n: given.get(n) for n in ("skip", "skipAfterHeader", "comment", "names")} == {
        **dict.fromkeys(("skip", "skipAfterHeader", "comment", "names")),
        **options,
    }
    time = stream["timestamp"]["column"]
    shown = _show(run, f"SELECT {time} FROM a WHERE {asked}", tmp_path / "p")
    assert "2026-03-01 23:45:00" in shown


@pytest.mark.parametrize(
    "rows",
    [
        ["Station;Temp", *(f"Bonn;{n},5" for n in range(20))],  # by commas, it would have titles
        ["place,level", "x,Ice", *(f"x,{'Ice' if n == 9 else n / 10}" for n in range(20))],
        ["site,flow,note", *(f"s{n % 2},NA,x" for n in range(3)), *(f"s,{n},y" for n in range(9))],
    ],
)
def test_what_has_none_loses_none(run: Run, tmp_path: Path, rows: list[str]) -> None:
    times = [f"2026-03-01T{n:02}:00Z" for n in range(len(rows) - 1)]
    mark = ";" if ";" in rows[0] else ","
    stamped = [f"{t}{mark}{row}" for t, row in zip(times, rows[1:], strict=True)]
    stream = _init(run, tmp_path, "a.csv", [f"time{mark}{rows[0]}", *stamped])["a"]
    assert not {"skip", "skipAfterHeader", "comment"} & stream["source"]["options"].keys()


def test_rows_that_begin_like_comments_stay(run: Run, tmp_path: Path) -> None:
    rows = [f"{'#' if n in (0, 9) else ''}t{n},{n},2026-03-01T00:{n:02}:00Z" for n in range(30)]
    _init(run, tmp_path, "a.csv", ["# by a tool", "tag,n,ts", *rows])
    assert "30 rows" in run("show", "SELECT tag, n FROM a", "--project", tmp_path / "p").out
    colours = [f"#ff{n:02},{n},2026-03-01T00:{n:02}:00Z" for n in range(3)]
    (tmp_path / "q").mkdir()
    _init(run, tmp_path / "q", "b.csv", [*colours, *rows[3:9]])
    shown = run("show", "SELECT _c0, _c1 FROM b", "--project", tmp_path / "q" / "p").out
    assert "9 rows" in shown


def test_where_a_row_is_said_below_lines_that_are_none(run: Run, tmp_path: Path) -> None:
    rows = [*LOGGER[:50], '"2026-03-01 11:30:00",46,bad', *LOGGER[51:]]
    _init(run, tmp_path, "a.csv", LOGGER)
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    ran = run("check", tmp_path / "p", "--data")
    assert "row 51: TIMESTAMP = 2026-03-01 11:30:00" in ran.out


def test_years_by_two_letters_units_below_and_what_is_missing(run: Run, tmp_path: Path) -> None:
    rows = [
        f"2026 03 01 {n // 6:02} {n % 6}0  {n:3} {'MM' if n == 70 else n / 10:>5}"
        for n in range(144)
    ]
    head = ["#YY  MM DD hh mm WDIR WSPD", "#yr  mo dy hr mn degT m/s"]
    stream = _init(run, tmp_path, "buoy.txt", [*head, *rows])["buoy"]
    assert stream["timestamp"]["from"] == ["YY", "MM1", "DD", "hh", "mm4"]
    assert stream["columns"]["WSPD"] == {"type": "double", "nullable": True}
    shown = _show(run, "SELECT ts, WSPD FROM buoy WHERE WDIR = 143", tmp_path / "p")
    assert ("2026-03-01 23:50:00" in shown, "14.3" in shown) == (True, True)


def test_names_among_numbers_are_texts(run: Run, tmp_path: Path) -> None:
    rows = [
        f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z,{n % 9 if n % 20 else 'N'}" for n in range(90)
    ]
    stream = _init(run, tmp_path, "buses.csv", ["time,line", *rows])["buses"]
    assert "string" in str(stream["columns"]["line"])


@pytest.mark.parametrize(
    ("clock", "form"), [("%I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p"), ("%H:%M", "%d/%m/%Y %H:%M")]
)
def test_day_and_month_may_each_come_first(run: Run, tmp_path: Path, clock: str, form: str) -> None:
    first = datetime(2026, 3, 1)
    times = [(first + timedelta(minutes=n)).strftime(f"03/01/2026 {clock}") for n in range(60)]
    stream = _init(run, tmp_path, "a.csv", ["time,x", *(f"{t},{n}" for n, t in enumerate(times))])
    assert stream["a"]["timestamp"]["format"] == form
    assert "they may as well be" in (tmp_path / "p" / "ontoweir.toml").read_text()


TIMES = [f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z" for n in range(30)]
LATER = [f"{time},{n},{n / 10}" for n, time in enumerate(TIMES)]


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (["time,n,x", "[UTC],[-],[m/s]", *LATER], {"skipAfterHeader": "1"}),
        (
            ["time,n,x", f"{TIMES[0]},,absent", *LATER[1:]],
            {},
        ),  # a word is no unit: it may be a value
        (["Site\x0c4", "by\u2028hand", "time,n,x", *LATER], {"skip": "2"}),
        (["time,n,x", *(f"{row}," for row in LATER)], {}),
        (["time,n,x,note", *LATER], {}),
    ],
)
def test_lines_that_are_evidently_no_rows(
    run: Run, tmp_path: Path, rows: list[str], options: dict[str, str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("\n".join(rows) + "\n")
    run("init", tmp_path / "p", "--from", file)
    text = (tmp_path / "p" / "ontoweir.toml").read_text()
    given = tomllib.loads(text)["streams"]["a"]["source"]["options"]
    assert {n: v for n, v in given.items() if n.startswith("skip")} == options
    shown = run("show", "SELECT * FROM a", "--project", tmp_path / "p").out
    assert "30 rows" in shown


def test_lines_that_are_not_read_are_said(run: Run, tmp_path: Path) -> None:
    smaller = ["day,total", "2026-03-01,5", "2026-03-02,6", ""]
    (tmp_path / "a.csv").write_text("\n".join([*smaller, "time,n,x", *LATER]) + "\n")
    said = run("init", tmp_path / "p", "--from", tmp_path / "a.csv").out
    assert (
        "a: left out, as no rows of the table: 3 lines of its file, 2 of them with values" in said
    )
    assert "save it as a file of its own" in said
    assert "\n#     2026-03-02,6\n# If" in (tmp_path / "p" / "ontoweir.toml").read_text()
    (tmp_path / "b.csv").write_text("\n".join(["time,n,x", *LATER]) + "\n")
    assert "left out" not in run("init", tmp_path / "q", "--from", tmp_path / "b.csv").out


def test_a_header_with_too_few_names_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["by hand", "time,n", *LATER]) + "\n")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "a.csv")
    assert (ran.code, "rows have 3 cells" in ran.err) == (2, True)
    run("init", tmp_path / "p", "--from", tmp_path / "a.csv", "--names", "time,n,x")
    assert "30 rows" in run("show", "SELECT x FROM a", "--project", tmp_path / "p").out


@pytest.mark.parametrize(
    ("kinds", "null"),
    [
        (["nA", "kA", "A"], None),
        (["Na", "Cl", "K"], None),
        (["DE", "NA", "FR"], None),
        (["none", "high"], None),
        (["Bonn", "NA", "Ulm"], "NA"),
        (["Bonn", "None", "Ulm"], "None"),
        (["Bonn", "?"], "?"),
    ],
)
def test_texts_that_look_like_what_is_missing(
    run: Run, tmp_path: Path, kinds: list[str], null: str | None
) -> None:
    rows = [f"{time},{kinds[n % len(kinds)]},{n}" for n, time in enumerate(TIMES)]
    stream = _init(run, tmp_path, "a.csv", ["time,kind,x", *rows])["a"]
    assert stream["source"]["options"].get("nullValue") == null


def test_a_value_that_is_no_time_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    odd = [t.replace("-", "~") for t in TIMES]  # in a format that nobody knows
    file.write_text("\n".join(["time,x", *(f"{t},1" for t in odd), "Total,30"]) + "\n")
    said = run("init", tmp_path / "p", "--from", file)
    assert said.code == 2
    assert (
        "a.time would be one, but for values such as 'Total', where others are as '2026" in said.err
    )
    file.write_text("name,x\nBonn,1\nUlm,2\n")
    assert "would be one" not in run("init", tmp_path / "p", "--from", file).err


@pytest.mark.parametrize("odd", ["Total", "", "2026-01-01 ?"])
def test_rows_without_a_time_are_rejected_where_most_have_one(
    run: Run, tmp_path: Path, odd: str
) -> None:
    file = tmp_path / "a.csv"
    rows = [f"{time},{n}" for n, time in enumerate(TIMES)]
    file.write_text("\n".join(["time,x", *rows[:9], f"{odd},700", *rows[9:]]) + "\n")
    ran = run("init", tmp_path / "p", "--from", file)
    assert ran.code == 0, ran.err
    text = (tmp_path / "p" / "ontoweir.toml").read_text()
    how = f"as in '{odd}' instead" if odd else "without one"
    assert f"; rows {how} are rejected, 1 of the first {len(TIMES) + 1}" in text
    shown = run("show", "SELECT x FROM a", "--project", tmp_path / "p", "--format", "csv")
    assert sorted(int(line.split(",")[0]) for line in shown.out.splitlines()[1:]) == [
        *range(len(TIMES))
    ]
    held = run("check", tmp_path / "p", "--data")
    assert f"{file}, row 11" in held.out


def test_a_table_with_many_rows_without_a_time_is_no_stream(run: Run, tmp_path: Path) -> None:
    """Twin: half of the rows have none."""
    file = tmp_path / "a.csv"
    rows = [f"{time if n % 2 else ''},{n}" for n, time in enumerate(TIMES)]
    file.write_text("\n".join(["time,x", *rows]) + "\n")
    ran = run("init", tmp_path / "p", "--from", file)
    assert (ran.code, "has a time that goes on" in ran.err) == (2, True)


def test_paths_and_addresses_are_no_closed_list(run: Run, tmp_path: Path) -> None:
    """New ones come every day; a twin, words, is one."""
    seen = [
        ("10.0.0.1", "/a", "::1", "ann@x.example"),
        ("10.0.0.2", "/", "fe80::1", "bo@x.example"),
    ]
    rows = [
        f"{t},{','.join(seen[n % 2])},{'GET' if n % 3 else 'POST'}" for n, t in enumerate(TIMES)
    ]
    streams = _init(run, tmp_path, "a.csv", ["time,client,path,host,mail,method", *rows])
    columns = streams["a"]["columns"]
    assert columns["method"] == {"type": "string", "enum": ["GET", "POST"]}
    assert {columns[n] for n in ("client", "path", "host", "mail")} == {"string"}
