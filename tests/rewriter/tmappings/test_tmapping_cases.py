"""Runs `cases/*.md`: how hierarchies are compiled into mappings, with twins that need no axiom.

A case is a query, `sparql`, over tables, `toml`, mappings, `turtle`, and axioms, `owl`; and the SQL
that it is unfolded to, `sql after`, whose comments name mappings and axioms.
"""

from pathlib import Path

import pytest

from ontoweir.rewriter.sql.print_sql import print_sql
from tests.case_files import Case, Golden, read_folder
from tests.rewriter.unfold.unfold_case import unfold_case

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_hierarchy(case: Case, tmp_path: Path, golden: Golden) -> None:
    union, catalog = unfold_case(case, tmp_path)
    origins = [origin for query in union.disjuncts for _, origin in query.provenance]
    assert any(origin.axioms for origin in origins) != case.is_twin
    text = print_sql(union, catalog).replace(f"{tmp_path}/", "")
    golden(case, "sql after", text)
