"""Runs `cases/*.md`: what patterns become over the tables, with twins of which nothing is left.

A case is a query, `sparql`, over tables, `toml`, mappings, `turtle`, and axioms, `owl`; and the SQL
that it is unfolded to, `sql after`. That it gives the answers is tested in test_unfold_query.py.
"""

from pathlib import Path

import pytest

from ontoweir.rewriter.sql.print_sql import print_sql
from tests.case_files import Case, Golden, read_folder
from tests.rewriter.unfold.unfold_case import unfold_case

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_unfolding(case: Case, tmp_path: Path, golden: Golden) -> None:
    union, catalog = unfold_case(case, tmp_path)
    assert (not union.disjuncts) == case.is_twin
    golden(case, "sql after", "" if case.is_twin else print_sql(union, catalog, comments=False))
