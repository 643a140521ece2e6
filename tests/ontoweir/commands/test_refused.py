"""What is refused hides nothing else: `check` has a verdict for every query that has one, and every
reason why others have none."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ontoweir.api.opening import open_project
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import OntoweirError
from ontoweir.report.explain_code import explain_code
from tests.ontoweir.conftest import Run

R2RML = "traffic.r2rml.ttl"
NAME = "every-reading-above-130"


def _check(run: Run, small: Path, *more: object) -> tuple[int, dict[str, Any], str]:
    ran = run("check", small, "--format", "json", *more)
    return ran.code, {found["query"]: found for found in json.loads(ran.out)}, ran.err


def _write(small: Path, name: str, text: str) -> None:
    (small / "queries" / f"{name}.rq").write_text(text, encoding="utf-8")


def test_a_query_that_is_refused_hides_no_other(run: Run, small: Path) -> None:
    _, whole, _ = _check(run, small)
    _write(small, "a-syntax", "SELECT")
    _write(
        small,
        "z-exists",
        "SELECT ?x WHERE {\n  GRAPH ?t { ?x <http://x/p> ?v }\n"
        "  FILTER(EXISTS { ?x a <http://x/y> } = true) }",
    )
    code, found, said = _check(run, small)
    assert code == 2
    assert len(said.splitlines()) == 2
    assert [line.split(":")[0].rpartition("/")[2] for line in said.splitlines()] == [
        "a-syntax.rq",
        "z-exists.rq",
    ]
    refused = {name: found.pop(name) for name in ("a-syntax", "z-exists")}
    assert found == whole
    assert {r["verdict"] for r in refused.values()} == {"refused"}
    assert "EXISTS" in refused["z-exists"]["refused"]["construct"]
    assert refused["z-exists"]["refused"]["line"] == 3
    assert refused["z-exists"]["bound"]["rows"] is None


def test_skipped_is_exit_code_1(run: Run, small: Path) -> None:
    assert run("check", small, "--skip-refused", "--query", NAME).code == 0
    _write(small, "a-syntax", "SELECT")
    ran = run("check", small, "--skip-refused")
    assert ran.code == 1
    assert ran.err.startswith("warning: skipped: ")
    assert NAME in ran.out


def test_the_verdict_that_fails_is_not_hidden(run: Run, small: Path) -> None:
    _write(small, "a-syntax", "SELECT")
    ran = run("check", small, "--fail-on", "unbounded")
    assert ran.code == 2
    assert "how-often-congestion-got-worse" in ran.out


def _break(text: str, number: int, how: str) -> str:
    """The mappings with one thing wrong in the triples map of that number."""
    starts = [
        m.start() for m in re.finditer(r"^<\w+> a rr:TriplesMap|^<\w+>\s", text, re.MULTILINE)
    ]
    first = starts[number]
    end = starts[number + 1] if number + 1 < len(starts) else len(text)
    block = text[first:end]
    match how:
        case "column":
            new = re.sub(
                r'(rr:subjectMap \[ rr:template "[^{]*)\{\w+\}', r"\1{nope}", block, count=1
            )
        case "template":
            new = re.sub(r'(rr:subjectMap \[ rr:template "[^{]*\{\w+)\}', r"\1", block, count=1)
        case "table":
            new = block.replace("rr:logicalTable [", "rr:logicalTable [ rr:tableNam", 1)
            new = re.sub(r"rr:tableNam rr:\w+", "rr:tableNam", new, count=1)
        case _:
            new = block.replace("rr:subjectMap [", "rr:subjectMap [ rr:termType rr:Nothing ;", 1)
    return text[:first] + new + text[end:]


@pytest.mark.parametrize("how", ["column", "template", "table", "term type"])
def test_of_a_refused_mapping_only_those_it_could_concern(run: Run, small: Path, how: str) -> None:
    """Each triples map of the example is broken in turn: a query has the verdict it had before, or
    is refused with that mapping named. No verdict is made of a part of the mappings."""
    text = (small / R2RML).read_text(encoding="utf-8")
    count = len(re.findall(r"^<\w+>\s", text, re.MULTILINE))
    assert count > 5
    _, whole, _ = _check(run, small)
    kept = 0
    for number in range(0, count, 2 if how == "column" else 4):
        broken = _break(text, number, how)
        if broken == text:
            continue
        (small / R2RML).write_text(broken, encoding="utf-8")
        code, found, said = _check(run, small)
        assert code == 2
        assert found.keys() == whole.keys()
        name = re.findall(r"^(<\w+>)\s", text, re.MULTILINE)[number]
        assert f"{name}: " in said
        refused = 0
        for query, verdict in found.items():
            if verdict["verdict"] == "refused":
                assert f"{small / R2RML}" == verdict["refused"]["file"]
                refused += 1
            else:
                assert _bare(verdict) == _bare(whole[query])
                kept += 1
        assert said.count("\n") >= 1
    assert kept > 0


def _bare(verdict: dict[str, Any]) -> Any:
    """Without places in the mapping file, whose lines may have moved."""
    return {k: verdict[k] for k in ("verdict", "tier", "bound", "conditions", "semantics")}


def test_a_mapping_that_no_query_needs_is_told_all_the_same(run: Run, small: Path) -> None:
    file = small / R2RML
    text = file.read_text(encoding="utf-8")
    more = '\n<Unused> rr:logicalTable [ rr:tableName "nowhere" ] ;\n'
    more += '  rr:subjectMap [ rr:template "http://x/{a}" ; rr:class <http://x/Unused> ] .\n'
    file.write_text(text + more, encoding="utf-8")
    code, found, said = _check(run, small)
    assert code == 2
    assert "refused" not in {v["verdict"] for v in found.values()}
    assert said.count("\n") == 1
    assert "<Unused>" in said
    assert run("check", small, "--skip-refused").code == 1
    ran = run("check", small, "--mappings-only", "--format", "sarif")
    assert ran.code == 2
    assert "<Unused>" in json.dumps(json.loads(ran.out)["runs"][0]["results"])
    # whoever runs a query is warned, and it runs: test_refused_elsewhere.py
    ran = run("rewrite", small, "--query", NAME, "--show", "sql")
    assert ran.code == 0
    assert "<Unused>" in ran.err


def test_data_may_name_any_class(run: Run, small: Path) -> None:
    """A class or property that is made from data could be any: all queries are refused."""
    file = small / R2RML
    text = file.read_text(encoding="utf-8")
    for made in (
        "rr:predicate rdf:type ; rr:objectMap [ rr:template 'http://x/{id}' ]",
        "rr:predicateMap [ rr:template 'http://x/{id}' ] ; rr:object 1",
        "rr:predicatMap [ rr:template 'http://x/{id}' ] ; rr:object 1",
    ):
        more = '\n<Any> rr:logicalTable [ rr:tableName "traffic" ] ;\n'
        more += '  rr:subjectMap [ rr:template "http://x/{id}" ] ;\n'
        more += f"  rr:predicateObjectMap [ {made} ] .\n"
        head = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
        file.write_text(head + text + more, encoding="utf-8")
        code, found, _ = _check(run, small)
        assert code == 2
        assert {v["verdict"] for v in found.values()} == {"refused"}, made


def test_obda(run: Run, small: Path, root: Path) -> None:
    text = (root / "tests/mappings/r2rml/traffic.obda").read_text(encoding="utf-8")
    (small / "m.obda").write_text(text, encoding="utf-8")
    call = ("--set", f"project.mappings={json.dumps([str(small / 'm.obda')])}")
    code, whole, _ = _check(run, small, *call)
    assert code == 0
    broken = text.replace("FROM sensor", "FROM sensro", 1)
    assert broken != text
    (small / "m.obda").write_text(broken, encoding="utf-8")
    code, found, said = _check(run, small, *call)
    assert code == 2
    names = {v["verdict"] for v in found.values()}
    assert "refused" in names
    assert names > {"refused"}
    assert "'sensro'" in said
    for query, verdict in found.items():
        if verdict["verdict"] != "refused":
            assert _bare(verdict) == _bare(whole[query])


def test_pages_and_logs_have_it_too(run: Run, small: Path, tmp_path: Path) -> None:
    _write(small, "a-syntax", "SELECT <b>")
    ran = run("check", small, "--format", "html")
    assert ran.code == 2
    assert ">a-syntax<" in ran.out
    assert "verdict refused" in ran.out
    assert NAME in ran.out
    ran = run("check", small, "--format", "sarif")
    assert ran.code == 2
    results = json.loads(ran.out)["runs"][0]["results"]
    (refused,) = [r for r in results if r["ruleId"] == "OW241"]
    assert refused["level"] == "error"
    assert "a-syntax" in json.dumps(refused["locations"])
    assert "LIMIT" in explain_code("OW241")
    page = tmp_path / "page.html"
    ran = run("report", small, "--output", page)
    assert ran.code == 2
    assert not page.exists()
    ran = run("report", small, "--output", page, "--skip-refused")
    assert ran.code == 1
    assert "verdict refused" in page.read_text()


def test_plain_sql(run: Run, small: Path) -> None:
    (small / "x.sql").write_text("SELECT id\nFROM nowhere")
    ran = run("check", small, "--sql", small / "x.sql", "--format", "json")
    assert ran.code == 2
    (found,) = json.loads(ran.out)
    assert (found["verdict"], found["refused"]["line"]) == ("refused", 2)


def test_python(small: Path) -> None:
    _write(small, "a-syntax", "SELECT")
    opened = open_project(small)
    assert opened.check(NAME).name == "bounded"
    with pytest.raises(OntoweirError):
        opened.check("a-syntax")
    found = opened.check_all()
    assert list(found) == list(opened.queries)
    assert isinstance(found[NAME], Verdict)
    assert isinstance(found["a-syntax"], OntoweirError)


def test_the_ontology_concerns_all(run: Run, small: Path) -> None:
    (small / "traffic.ttl").write_text("x")
    ran = run("check", small)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["ontoweir.toml", "traffic.ttl"])
def test_code_scanning_is_told_what_concerns_all(run: Run, small: Path, name: str) -> None:
    (small / name).write_text("x\n")
    ran = run("check", small, "--format", "sarif")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    (result,) = json.loads(ran.out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("OW241", "error")
    assert name in json.dumps(result["locations"])
