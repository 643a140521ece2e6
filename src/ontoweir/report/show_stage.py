"""A query after each stage of the pipeline, as lines of text."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ontoweir.checker.criteria.derive_lto import derive_lto
from ontoweir.checker.normalise.drop_windows import drop_windows
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.verdict.find_pattern import find_pattern
from ontoweir.checker.verdict.verdict import (
    Bounded,
    Failing,
    Unsatisfiable,
    Verdict,
    list_blocks,
)
from ontoweir.errors import QueryError, Source, UsageError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.pipeline import CompiledQuery, OnWarning, Workspace
from ontoweir.pipeline.read_text import read_text
from ontoweir.progress.progress import OnProgress, ignore_progress
from ontoweir.report.describe_plan import describe_plan
from ontoweir.rewriter.algebra.print_spj import print_spj
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.closest_term import closest_term
from ontoweir.rewriter.model.query import ClassAtom, ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.ucq.minimise_ucq import minimise_ucq
from ontoweir.rewriter.ucq.show_ucq import format_cq, show_ucq


def show_ontology_alone(
    ontology: Sequence[Path],
    query: Path,
    *,
    strict: bool,
    warn: OnWarning,
    on_progress: OnProgress = ignore_progress,
) -> tuple[str, list[str], bool]:
    """The minimal UCQ of a query file over ontology files, without a project.

    A term missing from the ontology is only a warning, because mappings could define it.
    """
    branches = parse_query(read_text(query), name=query.stem, file=str(query))
    tbox = load_ontology(ontology, strict=strict, warn=warn)
    for atom in dict.fromkeys(a for branch in branches for a in branch.atoms):
        if isinstance(atom, ClassAtom):
            kind, name, known = "class", atom.cls, tbox.classes
        else:
            kind, name = "property", atom.prop
            known = tbox.object_properties | tbox.data_properties
        if name not in known:
            close = closest_term(name, known)
            unknown = QueryError(
                f"unknown {kind} {name}",
                why="it is not in the ontology, so only mappings could define it",
                fix=f"did you mean {close}?" if close else "declare it, or correct its name",
                source=atom.source,
            )
            warn(str(unknown))
    return query.stem, _ucq(branches, tbox, on_progress), False


def show_stage(
    workspace: Workspace, compiled: CompiledQuery, stage: str, *, dialect: str, limit: int
) -> tuple[list[str], bool]:
    """The lines of a stage ("ucq", "sql", "spj", "lto", "plan",
    "trace"), and whether more were left out."""
    union = compiled.union
    catalog = extend_catalog(workspace.project.catalog, union)
    match stage:
        case "ucq" | "trace" if not compiled.branches:
            raise UsageError(
                f"{compiled.name} is SQL, which is not rewritten over the ontology",
                why="what is rewritten are patterns of SPARQL",
                fix="write --show sql, spj, lto or plan",
                source=Source("--show"),
            )
        case "ucq":
            return _ucq(
                workspace.parse(compiled.name), workspace.tbox, workspace.on_progress
            ), False
        case "sql":
            return _sql(union, catalog, dialect), False
        case "spj":
            return [print_spj(q, distinct=union.distinct) for q in union.disjuncts], False
        case "lto":
            forms = []
            for number, query_ in enumerate(union.disjuncts, 1):
                form = normalise_query(
                    drop_windows(query_, catalog), distinct=union.distinct, catalog=catalog
                )
                if form.satisfiable:
                    forms.append((number, form))
            lines = (f"SQL {n}: {lto}" for n, form in forms for lto in derive_lto(form))
            shown = list(islice(lines, limit + 1))
            return shown[:limit], len(shown) > limit
        case "trace":
            return [str(step) for step in compiled.trace], False
        case "plan":
            return _plans(workspace, compiled, catalog), False
        case _:
            raise ValueError(stage)


def _ucq(
    branches: Sequence[ConjunctiveQuery], tbox: TBox, on_progress: OnProgress = ignore_progress
) -> list[str]:
    """The minimal union of all branches."""
    queries = [q for branch in branches for q in show_ucq(branch, tbox, on_progress=on_progress)]
    return [format_cq(q) for q in (minimise_ucq(queries) if len(branches) > 1 else queries)]


def _sql(union: SpjUnion, catalog: Catalog, dialect: str) -> list[str]:
    try:
        return [print_sql(union, catalog, dialect=dialect)] if union.disjuncts else []
    except ValueError as error:
        if "dialect" not in str(error):
            raise
        raise UsageError(
            f"unknown SQL dialect {dialect!r}",
            why="SQL is written in the dialects that sqlglot knows",
            fix="write e.g. spark, duckdb, postgres or sqlite",
            source=Source("--dialect"),
        ) from None


def _plans(workspace: Workspace, compiled: CompiledQuery, catalog: Catalog) -> list[str]:
    verdict = workspace.check(compiled)
    texts = _describe_plans(verdict, catalog)
    for inner in list_blocks(verdict):
        made = _describe_plans(inner, extend_catalog(catalog, inner.union))
        texts += [f"{inner.union.name}, whose answers are read: {text}" for text in made]
    return texts


def _describe_plans(verdict: Verdict, catalog: Catalog) -> list[str]:
    texts = []
    for number, disjunct in enumerate(verdict.disjuncts, 1):
        match disjunct:
            case Bounded(plan=plan):
                texts.append(f"SQL {number}\n  " + "\n  ".join(describe_plan(plan, patterns=True)))
            case Unsatisfiable():
                texts.append(f"SQL {number}\n  selects nothing: no synopsis")
            case Failing(because=because):
                reasons = "\n  ".join(f"{d.code}: {d.message}" for d in because)
                texts.append(f"SQL {number}\n  no plan\n  {reasons}")
    if verdict.plans:
        pattern = find_pattern(verdict.union, catalog, closed=verdict.closes_values)
        texts.append(f"{_together(verdict)} ({pattern})")
    return texts


def _together(verdict: Verdict) -> str:
    """What the plans make together."""
    if verdict.union.aggregation is not None:
        return "groups"
    return "all answers, once" if verdict.union.distinct else "all answers"
