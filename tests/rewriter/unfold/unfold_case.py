"""Unfolds the query of a case over its axioms, mappings and tables."""

from pathlib import Path

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.unfold.unfold_query import UnfoldOptions, unfold_query
from tests.case_files import Case
from tests.read_given import read_branch, read_catalog, read_mappings, read_tbox


def unfold_case(
    case: Case, folder: Path, options: UnfoldOptions | None = None
) -> tuple[SpjUnion, Catalog]:
    """The unfolded query, and the tables."""
    catalog, tbox = read_catalog(case.given("toml")), read_tbox(case, folder)
    union = unfold_query(
        [read_branch(case)], read_mappings(case, folder), catalog, tbox, options=options
    )
    return union, catalog
