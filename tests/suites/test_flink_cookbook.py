"""Recipes of Flink's cookbook, which nobody here wrote, as the scripts that they are."""

import json
from pathlib import Path

import pytest

from ontoweir.cli import main

DECIDED = {
    "01_regular_joins": ["unbounded"],
    "02_insert_into": ["bounded"],
    "02_watermarks": ["bounded"],
    "03_kafka_join": ["unbounded", "refused", "bounded"],
    "04_where": ["bounded"],
    "05_star_schema": ["refused", "bounded", "refused", "refused", "refused"],
    "06_dedup": ["unbounded", "refused"],
    "06_order_by": ["bounded", "refused"],
    "10_hopping_time_windows": ["bounded"],
}
"""Those of which some statement has a verdict."""
RECIPES = [
    *DECIDED,
    *("01_date_time", "01_group_by_window", "01_python_udfs", "03_current_watermark", "04_over"),
    *("05_expanding_arrays", "08_match_recognize", "08_statement_sets", "12_lag"),
]


@pytest.mark.parametrize("name", RECIPES)
def test_a_verdict_or_a_reason(name: str, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not read is refused by name, with its line; nothing else of the script is hidden."""
    file = shared / "suites" / "flink-cookbook" / f"{name}.sql"
    code = main(["check", str(file), "--format", "json"])
    said = json.loads(capsys.readouterr().out)
    verdicts = [q["verdict"] for q in said]
    assert verdicts == DECIDED.get(name, ["refused"] * len(said))
    assert code == (2 if "refused" in verdicts else 0)
    for query in said:
        assert query["source"]["line"]
        if query["verdict"] == "refused":
            assert query["refused"]["line"]  # of the view that it reads, perhaps
        if query["verdict"] == "unbounded":
            assert query["witness"] is not None


def test_all_recipes_are_here(shared: Path) -> None:
    there = {f.stem for f in (shared / "suites" / "flink-cookbook").glob("*.sql")}
    assert there == set(RECIPES)
