"""Look for what would make a query bounded, in its text and in what is declared."""

from pathlib import Path

from ontoweir.checker.repair.changes import Change
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.edit.describe_repairs import DescribedRepair, Draft, describe_edits, draft_changes
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.pipeline.compiling.recompile_query import recompile_query
from ontoweir.pipeline.read_text import read_project, read_text
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import Watch


def repair_query(
    workspace: Compiler,
    compiled: CompiledQuery,
    watch: Watch,
    *,
    timed: bool = True,
    text: str | None = None,
) -> tuple[DescribedRepair, ...]:
    """Minimal changes that make an undecided or unbounded query bounded, the smallest first.

    Each is made in the text of the query and in the catalog, and the text compiled and
    decided again, so that the verdict and the bound are those that `check` finds after it.

    Args:
        workspace: compiles.
        compiled: the query.
        watch: how long it may take, and who hears of it.
        timed: decide in application time.
        text: the query, where it is in no file.
    """
    union, catalog, sql = compiled.union, workspace.project.catalog, not compiled.branches
    if union.source is None:
        return ()
    query = read_text(Path(union.source.file)) if text is None else text
    toml = read_project(catalog.file)
    drafts: dict[tuple[Change, ...], Draft] = {}

    def recompile(changes: "tuple[Change, ...]", changed: Catalog) -> SpjUnion | None:
        drafted = draft_changes(changes, union, catalog, query=query, project=toml, sql=sql)
        if drafted is None:
            return None
        drafts[changes] = drafted
        try:
            return recompile_query(workspace, compiled, drafted.query, query, changed)
        except OntoweirError:
            return None

    repairs = find_repairs(union, catalog, recompile, timed=timed, watch=watch)
    return tuple(
        DescribedRepair(
            *describe_edits(
                r.changes, drafts[r.changes], union, catalog, query=query, project=toml, sql=sql
            ),
            r.verdict,
            r.changes,
        )
        for r in repairs
    )
