"""`ontoweir measure`: what holds of the data, and what declaring it would change."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

TOML = """\
[streams.passage]
source = { format = "csv", path = "passages.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" } # by the gate's clock

[streams.passage.columns]
gate = "string"
badge = "int"

[relations.gates]
source = { format = "csv", path = "gates.csv", options = { header = "true" } }
keys = [["name"]]
columns = { name = "string" }
"""
AGAIN = "SELECT x.gate FROM passage x JOIN passage y ON x.gate = y.gate AND x.ts < y.ts"
WHO = "SELECT x.badge FROM passage x JOIN passage y ON x.badge = y.badge AND x.ts < y.ts"


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    """A project whose rows come late, and whose gates are in a relation."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    names = ["north", "south", "east"]
    (tmp_path / "gates.csv").write_text("\n".join(["name", *names]) + "\n")
    # every tenth row comes two seconds late, the last of all 49
    times = [t - 3 if t % 10 == 9 else t for t in range(60)]
    times[-1] = 9
    rows = [f"{names[n % 3]},{n},2026-05-04T08:00:{t:02}" for n, t in enumerate(times)]
    (tmp_path / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    (tmp_path / "again.sql").write_text(AGAIN)
    (tmp_path / "who.sql").write_text(WHO)
    return tmp_path


def test_json(run: Run, gates: Path) -> None:
    ran = run("measure", gates, "--sql", gates / "again.sql", "--format", "json", "-q")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    stream = told["streams"]["passage"]
    assert stream["rows"] == 60
    assert stream["lateness"]["max"] == "49 seconds"
    assert stream["lateness"]["rows"] == 6
    assert stream["max_per_timestamp"] == 2
    assert stream["columns"]["gate"]["values"] == ["east", "north", "south"]
    (query,) = told["queries"]
    assert (query["verdict"], query["then"]["verdict"]) == ("unbounded", "conditionally-bounded")
    line = 'references = [{ columns = ["gate"], relation = "gates", to = ["name"] }]'
    assert query["needs"] == [f"[streams.passage]\n{line}"]
    (changing,) = [d for d in told["declarations"] if d["changes"]]
    assert changing["toml"] == query["needs"][0]
    assert changing["changes"][0]["from"] == "unbounded"


def test_a_smaller_lateness_says_what_it_loses(run: Run, gates: Path) -> None:
    rows = (gates / "passages.csv").read_text().splitlines()
    more = [f"north,{n},2026-05-04T08:{n // 60 + 1:02}:{n % 60:02}" for n in range(3540)]
    (gates / "passages.csv").write_text("\n".join([*rows, *more]) + "\n")
    ran = run("measure", gates, "--sql", gates / "again.sql", "--format", "json", "-q")
    loses = {
        tomllib.loads(d["toml"])["streams"]["passage"]["timestamp"]["lateness"]: d["loses"]
        for d in json.loads(ran.out)["declarations"]
        if "lateness" in d["toml"]
    }
    assert loses == {"49 seconds": 0, "2 seconds": 1}


def test_what_is_written_is_what_the_query_needs(run: Run, gates: Path) -> None:
    asked = ("measure", gates, "--sql", gates / "again.sql", "-q")
    ran = run(*asked, "--write")
    assert ran.code == 0, ran.err
    text = (gates / "ontoweir.toml").read_text()
    assert "# by the gate's clock" in text
    passage = tomllib.loads(text)["streams"]["passage"]
    assert passage["references"] == [{"columns": ["gate"], "relation": "gates", "to": ["name"]}]
    assert passage["timestamp"]["lateness"] == "49 seconds"
    assert passage["max_per_timestamp"] == 2
    assert run("check", gates, "--sql", gates / "again.sql").code == 0
    replayed = run(
        *("replay", gates, "--sql", gates / "again.sql", "--output", gates / "out.csv"),
        *("--engine", "driver", "--summary", "json", "-q"),
    )
    assert replayed.code == 0, replayed.err
    assert json.loads(replayed.out)["rejected"] == 0
    again = json.loads(run(*asked, "--format", "json").out)
    assert not any("lateness" in d["toml"] for d in again["declarations"])
    assert not any(d["changes"] for d in again["declarations"])


def test_values_that_are_always_new_bound_nothing(run: Run, gates: Path) -> None:
    ran = run("measure", gates, "--sql", gates / "who.sql", "-q")
    assert ran.code == 0, ran.err
    assert "who: unbounded; nothing that the data keeps bounds it" in ran.out
    assert "badge = {" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--for", "nothing"), "unknown query 'nothing'"),
        (("--sql", "none.sql"), "none.sql"),
    ],
)
def test_what_is_not_there(run: Run, gates: Path, arguments: tuple[str, str], said: str) -> None:
    ran = run("measure", gates, *arguments, "-q")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_missing_data(run: Run, gates: Path) -> None:
    (gates / "passages.csv").unlink()
    ran = run("measure", gates, "--sql", gates / "again.sql", "-q")
    assert ran.code == 2
    assert "passages.csv" in ran.err


def test_rows_of_one_value_that_come_together(run: Run, gates: Path) -> None:
    rows = [
        f"{gate},{n},2026-05-04T{n // 2 // 60:02}:{n // 2 % 60:02}:{2 * k:02}"
        for n in range(0, 400, 2)
        for k, gate in enumerate(("north", "east"))
    ]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    asked = ("measure", gates, "--sql", gates / "who.sql", "-q")
    ran = run(*asked, "--write", "--format", "json")
    assert ran.code == 0, ran.err
    (query,) = json.loads(ran.out)["queries"]
    line = 'clustered = [{ columns = ["badge"], within = "2 seconds" }]'
    assert query["needs"] == [f"[streams.passage]\n{line}"]
    checked = json.loads(run("check", gates, "--sql", gates / "who.sql", "--format", "json").out)
    assert checked[0]["verdict"] == "conditionally-bounded"
    assert checked[0]["conditions"] == ["all rows of passage with one badge lie within 2 seconds"]
    assert not any(
        d["changes"] for d in json.loads(run(*asked, "--format", "json").out)["declarations"]
    )


@pytest.mark.parametrize(("twice", "bounded"), [(30, True), (10, False)])
def test_values_of_which_some_come_again(run: Run, gates: Path, twice: int, bounded: bool) -> None:
    """Most badges pass once, some a second time: told where a query asks for it only, and only
    where that was seen often."""
    rows = [(f"{n // 60:02}:{n % 60:02}:00", n) for n in range(300)]
    rows += [(f"{n // 60:02}:{n % 60:02}:07", n) for n in range(0, 10 * twice, 10)]
    lines = [f"north,{badge},2026-05-04T{at}" for at, badge in sorted(rows)]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *lines]) + "\n")
    told = json.loads(run("measure", gates, "--sql", WHO, "-q", "--format", "json").out)
    (query,) = told["queries"]
    rule = 'clustered = [{ columns = ["badge"], rows = 0 }]'  # nobody passes between
    assert (query["needs"] == [f"[streams.passage]\n{rule}"]) == bounded
    other = json.loads(run("measure", gates, "--sql", AGAIN, "-q", "--format", "json").out)
    assert "clustered" not in str(other["declarations"])
    if bounded:
        assert run("measure", gates, "--sql", WHO, "-q", "--write").code == 0
        checked = run("check", gates, "--sql", WHO, "--data", "-q", "--format", "json")
        assert checked.code == 0
        assert "conditionally-bounded" in checked.out


def test_rows_between_are_told_where_they_say_more_than_the_time(run: Run, gates: Path) -> None:
    """Badges, whose numbers jump, pass in the morning, and some in the evening: hours later, and
    few rows."""
    rows = []
    for day in range(1, 29):
        badges = [1_000_000 * day + 1_000 * n for n in range(100)]
        rows += [(day, 9 * 3600 + 10 * n + 30 * k, b) for n, b in enumerate(badges) for k in (0, 1)]
        rows += [(day, 18 * 3600 + n, b) for n, b in enumerate(badges[90:])]
    lines = [
        f"north,{badge},2026-05-{day:02}T{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}"
        for day, s, badge in sorted(rows)
    ]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *lines]) + "\n")
    sql = "SELECT badge, COUNT(*) AS n FROM passage WHERE badge >= 0 GROUP BY badge"
    asked = ("--sql", sql, "-q", "--format", "json")
    told = json.loads(run("measure", gates, *asked, "--write").out)
    found = {d["toml"].splitlines()[-1]: d for d in told["declarations"]}
    rules = {
        'clustered = [{ columns = ["badge"], gap = "31470 seconds" }]': 2 * 2 * 31_471,
        'clustered = [{ columns = ["badge"], rows = 15 }]': 2 * (15 + 2),
        'ordered = [{ column = "badge", slack = 9000 }]': 2 * (9_001 + 2),
        'ordered = [{ column = "badge", rows = 19 }]': 2 * (20 + 2),
    }
    text = (gates / "ontoweir.toml").read_text()
    assert "max_per_timestamp = 2" in text
    (query,) = told["queries"]
    (written,) = (need.splitlines()[-1] for need in query["needs"])
    assert written in text  # one suffices, that by which the least is kept
    assert rules[written] == min(rules.values())
    for rule, bound in rules.items():
        assert rule in found, rule
        (gates / "ontoweir.toml").write_text(text.replace(written, rule))
        (checked,) = json.loads(run("check", gates, *asked, "--data").out)
        assert checked["bound"]["rows"] == bound


def test_a_gap_makes_groups_final(run: Run, gates: Path) -> None:
    """Badges stay long, and show themselves often."""
    rows = [
        f"north,{badge},2026-05-04T{minute // 60:02}:{minute % 60:02}:{badge:02}"
        for minute in range(400)
        for badge in range(40)
        if badge * 3 <= minute < badge * 3 + 250
    ]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    (gates / "stay.sql").write_text(
        "SELECT badge, COUNT(*) AS n FROM passage WHERE badge IS NOT NULL GROUP BY badge"
    )
    asked = ("--sql", gates / "stay.sql", "-q", "--format", "json")
    measured = json.loads(run("measure", gates, *asked, "--write").out)
    (query,) = measured["queries"]
    assert query["needs"] == [
        '[streams.passage]\nclustered = [{ columns = ["badge"], gap = "1 minute" }]'
    ]
    assert "rows = " not in str([d["toml"] for d in measured["declarations"]])  # many rows a gap
    (checked,) = json.loads(run("check", gates, *asked).out)
    assert checked["verdict"] == "conditionally-bounded"
    assert checked["pattern"] == "MON"
    assert checked["conditions"] == [
        "consecutive rows of passage with one badge lie within 1 minute"
    ]


def test_values_that_come_in_their_order(run: Run, gates: Path) -> None:
    """Badges are given out in their order, and each passes for long, or not at all."""
    rows = [
        f"north,{max(minute - (minute * k) % 4, 0)},"
        f"2026-05-04T{minute // 60:02}:{minute % 60:02}:{k:02}"
        for minute in range(200)
        for k in range(3)
        if minute not in range(50, 120)
    ]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    (gates / "stay.sql").write_text(
        "SELECT badge, COUNT(*) AS n FROM passage WHERE badge IS NOT NULL GROUP BY badge"
    )
    asked = ("--sql", gates / "stay.sql", "-q", "--format", "json")
    measured = json.loads(run("measure", gates, *asked).out)
    (rule,) = (r for r in measured["streams"]["passage"]["rules"] if "ordered" in r)
    assert (rule["ordered"], rule["slack"]) == ("badge", 3)
    (made,) = (d for d in measured["declarations"] if "ordered" in str(d))
    assert 'ordered = [{ column = "badge", slack = 3 }]' in str(made)
    assert "badge grows, at most 3 less than the greatest before" in str(made)


SHIPMENT = """
[streams.shipment]
source = { format = "csv", path = "shipments.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
columns = { pass = "int", truck = "string" }
"""


def test_lags_between_streams(run: Run, gates: Path) -> None:
    """Each of 200 badges is shipped 1 to 90 seconds after it passed."""
    (gates / "ontoweir.toml").write_text(TOML + SHIPMENT)
    rows = [f"north,{n},2026-05-04T{8 + n // 60:02}:{n % 60:02}:00" for n in range(200)]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    sent = sorted((n * 60 + 1 + n * 37 % 90, n) for n in range(200) if n % 3)
    rows = [
        f"{n},t{n},2026-05-04T{8 + s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s, n in sent
    ]
    (gates / "shipments.csv").write_text("\n".join(["pass,truck,ts", *rows]) + "\n")
    (gates / "sent.sql").write_text(
        "SELECT p.badge, s.truck FROM passage p JOIN shipment s ON p.badge = s.pass"
    )
    asked = ("--sql", gates / "sent.sql", "-q", "--format", "json")
    told = json.loads(run("measure", gates, *asked).out)
    longest = max(s - 60 * n for s, n in sent)
    assert [(j["stream"], j["behind"], j["within"], j["values"]) for j in told["lags"]] == [
        ("passage", "shipment", "0 seconds", 133),
        ("shipment", "passage", f"{longest} seconds", 133),
    ]
    assert [j["matches"] for j in told["lags"]] == ["one", "one"]
    evidence = [d["evidence"] for d in told["declarations"] if "lags" in d["toml"]]
    assert all('matches = "one"' in said for said in evidence)
    (query,) = told["queries"]
    assert (query["verdict"], query["then"]["verdict"]) == ("unbounded", "conditionally-bounded")
    assert sum("lags" in needed for needed in query["needs"]) == len(query["needs"]) == 2
    assert "never come after" in run("measure", gates, *asked[:-1], "html").out
    assert run("measure", gates, *asked, "--write").code == 0
    (checked,) = json.loads(run("check", gates, *asked).out)
    assert checked["verdict"] == "conditionally-bounded"
    again = json.loads(run("measure", gates, *asked).out)
    assert not any("lags" in d["toml"] for d in again["declarations"])


def test_rows_that_come_twice_are_many(run: Run, gates: Path) -> None:
    (gates / "ontoweir.toml").write_text(TOML + SHIPMENT)
    (gates / "passages.csv").write_text("gate,badge,ts\nnorth,1,2026-05-04T08:00:00\n")
    rows = [f"1,t{n},2026-05-04T08:00:0{n}" for n in range(2)]
    (gates / "shipments.csv").write_text("\n".join(["pass,truck,ts", *rows]) + "\n")
    sql = "SELECT p.badge, s.truck FROM passage p JOIN shipment s ON p.badge = s.pass"
    told = json.loads(run("measure", gates, "--sql", sql, "-q", "--format", "json").out)
    assert [(j["stream"], j["matches"]) for j in told["lags"]] == [
        ("passage", "one"),
        ("shipment", "many"),
    ]


def test_few_rows_of_a_value_are_proposed_where_they_bound_a_query(run: Run, gates: Path) -> None:
    """One badge comes all the time, others at most three times: none more than 600 times."""
    (gates / "ontoweir.toml").write_text(TOML)
    rows = [(f"g{n * 7 % 97}", 0, n * 10) for n in range(600)]
    rows += [(f"g{n % 97}", 1 + n // 3, 30 * n + 1) for n in range(180)]
    lines = [
        f"{gate},{badge},2026-05-04T{8 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        for gate, badge, second in sorted(rows, key=lambda row: row[2])
    ]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *lines]) + "\n")
    where = "FROM passage WHERE badge >= 0 AND gate > '' GROUP BY badge"
    asked = f"SELECT badge, gate, COUNT(*) AS n {where}, gate"
    told = json.loads(run("measure", gates, "--sql", asked, "-q", "--format", "json").out)
    rule = 'clustered = [{ columns = ["badge"], gap = "30 seconds", max_rows_per_value = 600 }]'
    (query,) = told["queries"]
    assert (query["then"]["verdict"], query["needs"]) == (
        "conditionally-bounded",
        [f"[streams.passage]\n{rule}"],
    )
    alone = f"SELECT badge, COUNT(*) AS n {where}"
    told = json.loads(run("measure", gates, "--sql", alone, "-q", "--format", "json").out)
    assert "max_rows_per_value" not in str(told["declarations"])
    assert run("measure", gates, "--sql", asked, "-q", "--write").code == 0
    assert rule in (gates / "ontoweir.toml").read_text()
    assert run("check", gates, "--sql", asked, "--data", "-q").code == 0
    text = (gates / "ontoweir.toml").read_text().replace("= 600", "= 599")
    (gates / "ontoweir.toml").write_text(text)
    told = run("check", gates, "--sql", asked, "--data", "-q")
    assert "after 599 other rows with the same badge" in told.out + told.err


def test_html(run: Run, gates: Path) -> None:
    ran = run("measure", gates, "--sql", gates / "again.sql", "--format", "html", "-q")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("<!DOCTYPE html>")
    assert "what the data keeps" in ran.out
    assert "<svg" in ran.out
    assert "references = [{ columns = [&quot;gate&quot;]" in ran.out
    assert "<script" not in ran.out


def test_a_query_that_is_wrong_hides_no_other(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path / "p", "-q").code == 0
    (tmp_path / "p" / "queries" / "broken.rq").write_text("SELECT ?x { ?x a")
    before = (tmp_path / "p" / "ontoweir.toml").read_text()
    ran = run("measure", tmp_path / "p", "-q", "--write")
    assert ran.code == 2
    assert "broken.rq:1" in ran.err
    assert "3 of 3 queries are bounded" in ran.out
    assert (tmp_path / "p" / "ontoweir.toml").read_text() == before


def test_what_depends_and_how_much_comes(run: Run, tmp_path: Path) -> None:
    stream = (
        '[streams.{name}]\nsource = {{ format = "csv", path = "{name}.csv", '
        'options = {{ header = "true" }} }}\ntimestamp = {{ column = "ts", unit = "1 second" }}\n'
        '[streams.{name}.columns]\nroom = "string"\nfloor = "int"\nvalue = "int"\n'
    )
    names = ("heat", "light")
    (tmp_path / "ontoweir.toml").write_text("".join(stream.format(name=n) for n in names))
    for name, every in (("heat", 1), ("light", 3)):
        rows = [
            f"r{t % 6},{t % 6 // 2},{t * 7 % 5},2026-05-04T08:{t // 60:02}:{t % 60:02}"
            for t in range(0, 600, every)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["room,floor,value,ts", *rows]) + "\n")
    ran = run("measure", tmp_path, "--format", "json", "-q")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    heat = told["streams"]["heat"]
    assert heat["determines"] == [{"column": "room", "determines": ["floor"]}]
    assert heat["every_pair"]
    assert heat["rate"]["per_second"] == 1.0
    assert heat["rate"]["per_timestamp"] == {"50.00%": 1, "99.00%": 1, "99.90%": 1}
    (ratio,) = told["ratios"]
    assert (ratio["stream"], ratio["to"]) == ("heat", "light")
    assert ratio["ratio"] == pytest.approx(3, rel=0.01)
    assert 1 < ratio["least"] <= ratio["most"] < 5
    text = run("measure", tmp_path, "-q").out
    assert "depends     room determines floor (each of its 6 values has one)" in text
    assert "rate        1 rows a second" in text
    assert "3 rows of heat come for each of light" in text
    page = run("measure", tmp_path, "--format", "html", "-q").out
    assert "room determines floor" in page
    assert "How many rows come for each of another stream" in page
