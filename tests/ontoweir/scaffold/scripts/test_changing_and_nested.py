"""`ontoweir check job.sql`: tables whose rows replace each other, and members of a ROW."""

import json
from pathlib import Path

import pytest

from ontoweir.cli import main

TABLES = """CREATE TABLE rate (currency STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
PRIMARY KEY (currency) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'rate');
CREATE TABLE sale (id BIGINT, currency STRING, who ROW<id INT, `at` ROW<zip STRING>>,
ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'sale');
"""
CATALOG = """[streams.rate_changes]
source = { format = "parquet", path = "rate.parquet" }
timestamp = { column = "ts", unit = "1 millisecond" }
keys = [["currency", "ts"]]
[streams.rate_changes.columns]
currency = { type = "string", enum = ["EUR", "USD"] }
rate = "int"
[relations.rate]
versions = { stream = "rate_changes", key = ["currency"] }
"""
AS_OF = "SELECT s.id, r.rate FROM sale AS s JOIN rate FOR SYSTEM_TIME AS OF s.ts AS r "
AS_OF += "ON s.currency = r.currency;"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _check(capsys: pytest.CaptureFixture[str], query: str, *more: str) -> tuple[str, str]:
    """The verdict of a query of these tables, with the codes of its reasons; or what refuses it."""
    Path("job.sql").write_text(TABLES + query)
    if main(["check", "job.sql", "--format", "json", *more]) == 2:
        return "refused", capsys.readouterr().err
    (found,) = json.loads(capsys.readouterr().out)
    return found["verdict"], json.dumps(found)


def test_a_table_of_changes_is_read_as_of_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    verdict, told = _check(capsys, AS_OF)
    assert (verdict, "OW215" in told, "rate_changes.currency" in told) == ("unbounded", True, True)
    Path("side.toml").write_text(CATALOG)
    assert _check(capsys, AS_OF, "--catalog", "side.toml")[0] == "conditionally-bounded"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT s.id FROM sale s JOIN rate r ON s.currency = r.currency;", "at no row's time"),
        ("SELECT currency, COUNT(*) FROM rate GROUP BY currency;", "rate, which changes"),
    ],
)
def test_twin_otherwise_it_is_refused(
    query: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, told = _check(capsys, query)
    assert (verdict, why in told) == ("refused", True), told


@pytest.mark.parametrize(
    "lacking", [",\nPRIMARY KEY (currency) NOT ENFORCED", ", WATERMARK FOR ts AS ts"]
)
def test_twin_without_a_key_or_a_watermark(
    lacking: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("job.sql").write_text(TABLES.replace(lacking, "", 1) + AS_OF)
    assert main(["check", "job.sql"]) == 2
    assert "its rows change, as 'upsert-kafka' says" in capsys.readouterr().err


def test_members_of_a_row_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT id, who.id AS buyer, sale.who.at.zip AS zip FROM sale WHERE who.id > 7;"
    verdict, told = _check(capsys, query)
    assert (verdict, '"stateless"' in told) == ("bounded", True)


def test_twin_a_table_called_so_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    """`who.id` is the other table's then, and its member of that name is not read."""
    query = "SELECT who.id FROM sale AS who;"
    verdict, told = _check(capsys, query)
    assert (verdict, "who_id" in told) == ("bounded", False)
