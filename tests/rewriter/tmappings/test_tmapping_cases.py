"""Runs `cases/*.md`: how hierarchies are compiled into mappings, with twins that need no axiom, and
which mappings become one, with twins that do not.

A case is a query, `sparql`, over tables, `toml`, mappings, `turtle`, and axioms, `owl`; and the SQL
that it is unfolded to, `sql after`, whose comments name mappings and axioms.
"""

from pathlib import Path

import pytest

from ontoweir.rewriter.model.query import Counts
from ontoweir.rewriter.model.spj import Provenance
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.unfold.unfold_query import UnfoldOptions
from tests.case_files import Case, Golden, read_cases
from tests.rewriter.unfold.unfold_case import unfold_case

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("case", list(read_cases(CASES / "hierarchies-in-mappings.md")), ids=str)
def test_hierarchy(case: Case, tmp_path: Path, golden: Golden) -> None:
    origins = _unfold(case, tmp_path, golden)
    assert any(origin.axioms for origin in origins) != case.is_twin


@pytest.mark.parametrize("case", list(read_cases(CASES / "constants-of-one-column.md")), ids=str)
def test_merged(case: Case, tmp_path: Path, golden: Golden) -> None:
    matches = UnfoldOptions(counts=Counts.MATCHES)  # without views, which unite what is apart
    origins = _unfold(case, tmp_path, golden, matches)
    assert any(origin.others for origin in origins) != case.is_twin


def _unfold(
    case: Case, folder: Path, golden: Golden, options: UnfoldOptions | None = None
) -> list[Provenance]:
    union, catalog = unfold_case(case, folder, options)
    text = print_sql(union, catalog).replace(f"{folder}/", "")
    golden(case, "sql after", text)
    return [origin for query in union.disjuncts for _, origin in query.provenance]
