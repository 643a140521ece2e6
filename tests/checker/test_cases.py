"""Runs `cases/*.md`: readable cases of the checker, in the style of ruff's mdtest.

A heading starts a case. In it: a fenced `toml` catalog (else the file's first one stands), a fenced
`sql` query, and a fenced `verdict` block of `key: value` lines: `verdict`, `tier`, `rows`,
`bound`, `because` (codes), `rests on` (declarations), and one line per criterion: `lag`,
`[S] Th. 1`, `[S] Th. 2`, `[A] Th. 5.6`, `[A] Th. 5.10` (`holds` or `fails C1, C2`).
`model: arrival` decides without timestamps.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Bounded, Failing, Verdict
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql

_FOLDER = Path(__file__).parent / "cases"
_PART = re.compile(r"^(#+ [^\n]*)$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _MarkdownCase:
    name: str
    catalog: str
    sql: str
    expected: tuple[tuple[str, str], ...]


def _read(file: Path) -> Iterator[_MarkdownCase]:
    heading, default, own, sql = "", "", "", ""
    for found in _PART.finditer(file.read_text(encoding="utf-8")):
        title, language, body = found.groups()
        if title:
            heading, own, sql = title.lstrip("# "), "", ""
        elif language == "toml":
            default, own = default or body, body
        elif language == "sql":
            sql = body
        elif language == "verdict":
            lines = [line.split(": ", 1) for line in body.splitlines() if line]
            expected = tuple((key, value) for key, value in lines)
            yield _MarkdownCase(f"{file.stem}: {heading}", own or default, sql, expected)


_CASES = [case for file in sorted(_FOLDER.glob("*.md")) for case in _read(file)]


def _describe(verdict: Verdict) -> dict[str, str]:
    bound = verdict.bound
    found = {
        "verdict": verdict.name,
        "tier": str(verdict.tier),
        "rows": "none" if bound is None else str(bound.rows),
        "bound": "none" if bound is None else bound.formula,
        "witness": "yes" if isinstance(verdict.witness, Witness) else "no",
        "rests on": "; ".join(d.text for d in verdict.conditions) or "nothing",
    }
    decided = [d for d in verdict.disjuncts if isinstance(d, Bounded | Failing)]
    found["because"] = (
        ", ".join(
            dict.fromkeys(b.code for d in decided if isinstance(d, Failing) for b in d.because)
        )
        or "nothing"
    )
    for d in decided:
        c = d.criteria
        for criterion in (c.arasu, c.tree, c.published_set, c.lag):
            if criterion is not None:
                failed = ", ".join(criterion.failed)
                found[criterion.name] = "holds" if criterion.holds else f"fails {failed}"
    return found


def _load(text: str, folder: Path) -> Catalog:
    file = folder / "ontoweir.toml"
    file.write_text(text, encoding="utf-8")
    return load_project(file, environ={}).catalog


@pytest.mark.parametrize("case", _CASES, ids=[c.name for c in _CASES])
def test_case(case: _MarkdownCase, tmp_path: Path) -> None:
    catalog = _load(case.catalog, tmp_path)
    union = parse_sql(case.sql, catalog, name="case", file="case.sql")
    expected = dict(case.expected)
    timed = expected.pop("model", "application time") != "arrival"
    found = _describe(check_query(union, catalog, timed=timed))
    assert {key: found.get(key) for key in expected} == expected, found


def test_names_are_unique() -> None:
    names = [c.name for c in _CASES]
    assert len(names) == len(set(names))
    assert len(names) > 40
