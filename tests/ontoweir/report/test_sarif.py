"""`check --format sarif`: what SARIF 2.1.0 and code scanning require, and what it says."""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from jsonschema import Draft7Validator, ValidationError

from ontoweir.report.explain_code import code_titles
from tests.ontoweir.conftest import Run

UNBOUNDED = "how-often-congestion-got-worse"
CONDITIONAL = "sensors-fast-after-congestion"
BOUNDED = "every-reading-above-130"


def sarif(run: Run, *arguments: object) -> dict[str, Any]:
    ran = run("check", *arguments, "--format", "sarif")
    assert ran.code == 0, ran.err
    log = json.loads(ran.out)
    check_log(log)
    if (schema := published_schema()) is not None:
        Draft7Validator(schema).validate(log)
    found: dict[str, Any] = log["runs"][0]
    return found


@cache
def published_schema() -> dict[str, Any] | None:
    """The schema that OASIS publishes, where a file has it: the crate serde-sarif carries one
    (`cargo add serde-sarif && cargo fetch`), and $SARIF_SCHEMA may name one."""
    crates = Path.home().glob(".cargo/registry/src/*/serde-sarif-*/src/schema.json")
    files = [Path(os.environ["SARIF_SCHEMA"])] if "SARIF_SCHEMA" in os.environ else sorted(crates)
    if not files:
        return None
    found: dict[str, Any] = json.loads(files[-1].read_text(encoding="utf-8"))
    assert "Version 2.1.0" in found["title"]
    return found


def test_the_published_schema_is_there() -> None:
    """All logs of these tests are held against it."""
    if published_schema() is None:
        pytest.skip("NOT TESTED: no file has the schema of SARIF; $SARIF_SCHEMA may name one")
    with pytest.raises(ValidationError):
        Draft7Validator(published_schema()).validate({"version": "2.1.0", "runs": [{}]})


def test_lint_too(run: Run, example: Path) -> None:
    assert sarif(run, example, "--mappings-only")["results"]


def only(thing: dict[str, Any], required: set[str], allowed: set[str]) -> None:
    """The schema's objects have required properties, and no others than it names."""
    assert required <= thing.keys() <= required | allowed


def check_log(log: dict[str, Any]) -> None:
    """The parts of the schema of SARIF 2.1.0 that we write (OASIS, sections 3.13-3.30, 3.49), and
    what GitHub's code scanning wants beyond them."""
    only(log, {"$schema", "version", "runs"}, set())
    assert log["version"] == "2.1.0"
    assert urlparse(log["$schema"]).path.endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    only(run, {"tool", "results"}, {"columnKind", "originalUriBaseIds", "invocations"})
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert isinstance(run["invocations"][0]["executionSuccessful"], bool)
    for base in run["originalUriBaseIds"].values():
        assert urlparse(base["uri"]).scheme
        assert base["uri"].endswith("/")
    driver = run["tool"]["driver"]
    only(driver, {"name", "version", "rules"}, {"semanticVersion"})
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", driver["semanticVersion"])
    for rule in driver["rules"]:
        only(
            rule,
            {"id", "shortDescription", "helpUri", "help", "fullDescription"},
            {"name", "defaultConfiguration", "properties"},
        )
        for text in (rule["shortDescription"], rule["fullDescription"], rule["help"]):
            only(text, {"text"}, {"markdown"})
            assert text["text"]
        assert urlparse(rule["helpUri"]).scheme
        assert rule["name"].isalnum()
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in run["results"]:
        only(
            result,
            {"ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"},
            {"relatedLocations", "fixes"},
        )
        for fix in result.get("fixes", []):
            only(fix, {"artifactChanges"}, {"description"})
            assert fix["description"]["text"]
            assert fix["artifactChanges"]
            for change in fix["artifactChanges"]:
                only(change, {"artifactLocation", "replacements"}, set())
                assert change["replacements"]
                for part in change["replacements"]:
                    only(part, {"deletedRegion"}, {"insertedContent"})
                    only(part["insertedContent"], {"text"}, set())
                    region = part["deletedRegion"]
                    only(region, {"startLine", "startColumn", "endLine", "endColumn"}, set())
                    place = {"artifactLocation": change["artifactLocation"]}
                    start = {k: region[k] for k in ("startLine", "startColumn")}
                    check_location({"physicalLocation": {**place, "region": start}}, run)
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error")
        assert result["message"]["text"]
        assert len(result["locations"]) == 1
        assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
        assert "primaryLocationLineHash" in result["partialFingerprints"]
        for location in result["locations"]:
            check_location(location, run)
        related = result.get("relatedLocations", [])
        assert [x["id"] for x in related] == list(range(1, len(related) + 1))
        for location in related:
            check_location(location, run)
            assert location["message"]["text"]
    prints = [tuple(sorted(r["partialFingerprints"].items())) for r in run["results"]]
    assert len(set(prints)) == len(prints)


def check_location(location: dict[str, Any], run: dict[str, Any]) -> None:
    only(location, {"physicalLocation"}, {"id", "message"})
    physical = location["physicalLocation"]
    only(physical, {"artifactLocation", "region"}, set())
    artifact, region = physical["artifactLocation"], physical["region"]
    only(artifact, {"uri"}, {"uriBaseId"})
    assert re.fullmatch(r"[A-Za-z0-9._~:/%!$&'()*+,;=@-]+", artifact["uri"])
    if "uriBaseId" in artifact:
        assert not urlparse(artifact["uri"]).scheme
        assert not artifact["uri"].startswith(("/", ".."))
        base = run["originalUriBaseIds"][artifact["uriBaseId"]]["uri"]
        file = Path(unquote(urlparse(base).path), unquote(artifact["uri"]))
    else:
        file = Path(unquote(urlparse(artifact["uri"]).path))
    lines = file.read_text(encoding="utf-8").split("\n")
    only(region, {"startLine", "startColumn"}, {"endColumn"})
    text = lines[region["startLine"] - 1]
    assert 1 <= region["startColumn"] <= region.get("endColumn", 1 << 30)
    assert region.get("endColumn", 1) <= len(text) + 1


def test_every_example(run: Run, example: Path) -> None:
    levels = {r["level"] for r in sarif(run, example)["results"]}
    assert levels == {"error", "note"}


def test_an_unbounded_query_is_an_error_where_it_is_written(run: Run, example: Path) -> None:
    (result,) = sarif(run, example, "--query", UNBOUNDED)["results"]
    assert (result["ruleId"], result["level"]) == ("OW203", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith(f"queries/{UNBOUNDED}.rq")
    text = (example / "queries" / f"{UNBOUNDED}.rq").read_text(encoding="utf-8").splitlines()
    region = place["region"]
    part = text[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
    assert part == "?seconds1 < ?seconds2"
    related = {
        x["physicalLocation"]["artifactLocation"]["uri"].rsplit("/", 1)[-1]
        for x in result["relatedLocations"]
    }
    assert {"ontoweir.toml", "traffic.r2rml.ttl", "traffic.ttl"} <= related


def test_repairs_are_fixes(run: Run, project: Path) -> None:
    """Each replaces a region as SARIF says (3.57); the files are then what JSON's edits make."""
    name = "every-congested-reading-with-every-fast-one-after-it"
    (result,) = sarif(run, project, "--query", name)["results"]
    (found,) = json.loads(run("check", project, "--query", name, "--format", "json").out)
    assert len(result["fixes"]) == len(found["repairs"]) == 3
    for fix, repair in zip(result["fixes"], found["repairs"], strict=True):
        assert fix["description"]["text"].startswith("; ".join(repair["actions"]))
        ((change,), (edit,)) = fix["artifactChanges"], repair["edits"]
        assert Path(edit["file"]) == project / change["artifactLocation"]["uri"]
        lines = Path(edit["file"]).read_text().split("\n")
        (part,) = change["replacements"]
        region = part["deletedRegion"]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        text = "\n".join(lines)
        first = starts[region["startLine"] - 1] + region["startColumn"] - 1
        last = starts[region["endLine"] - 1] + region["endColumn"] - 1
        begin = edit["line"] - 1
        lines[begin : begin + edit["replaces"]] = edit["lines"]
        assert text[:first] + part["insertedContent"]["text"] + text[last:] == "\n".join(lines)


def test_an_undecided_query_is_a_warning(run: Run, example: Path, tmp_path: Path) -> None:
    """Theory §6, erratum 6: neither a plan nor a counterexample is known."""
    file = tmp_path / "q.sql"
    file.write_text(
        "SELECT DISTINCT 1 AS one FROM traffic x, traffic y, traffic z "
        "WHERE x.avg_measured_time < y.avg_measured_time AND x.id < z.id"  # and no line break
    )
    found = sarif(run, example, "--sql", file)["results"]
    assert {r["level"] for r in found} == {"warning"}


def test_a_condition_is_a_note_at_its_declaration(run: Run, example: Path) -> None:
    results = sarif(run, example, "--query", CONDITIONAL)["results"]
    assert len(results) == 2  # a reference, and the size of the relation that it leads to
    for result in results:
        assert (result["ruleId"], result["level"]) == ("OW221", "note")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("ontoweir.toml")


def test_a_bounded_query_is_no_result(run: Run, example: Path) -> None:
    found = sarif(run, example, "--query", BOUNDED)
    assert found["results"] == []
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == list(code_titles())


def test_warnings_are_results(run: Run, project: Path) -> None:
    file = project / "queries" / "fast readings.rq"
    file.write_text(
        "PREFIX : <http://traffic.example/ns#>\n"
        "SELECT ?reading WHERE { GRAPH ?t { ?reading a :FastReading ; :reportedBy ?anyone } }\n"
    )
    (result,) = sarif(run, project, "--query", "fast readings")["results"]
    assert (result["ruleId"], result["level"]) == ("OW231", "warning")
    assert "SELECT counts what is in the data" in result["message"]["text"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "queries/fast%20readings.rq", "uriBaseId": "%SRCROOT%"}


def test_paths_are_relative_to_the_current_folder(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    (result,) = sarif(run, "traffic", "--query", UNBOUNDED)["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == f"traffic/queries/{UNBOUNDED}.rq"


def test_a_set_of_one_number_is_no_placeholder(run: Run, project: Path) -> None:
    file = project / "pairs.sql"
    file.write_text("SELECT a.id FROM traffic a, traffic b WHERE a.ts < b.ts\n")
    limits = "streams.traffic.columns.id={type='int', enum=[7]}"
    (result,) = sarif(run, project, "--sql", file, "--set", limits)["results"]
    assert "traffic.id in {{7}}" in result["message"]["text"]


def test_fingerprints_survive_a_moved_line(run: Run, project: Path) -> None:
    def prints() -> list[Any]:
        found = sarif(run, project, "--query", UNBOUNDED)["results"]
        return [r["partialFingerprints"] for r in found]

    before = prints()
    file = project / "queries" / f"{UNBOUNDED}.rq"
    file.write_text("# one line more\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert prints() == before
