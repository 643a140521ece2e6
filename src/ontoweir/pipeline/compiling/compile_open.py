"""Compile a SPARQL query of what has been open for some time."""

from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.pipeline.compiling.compile_solutions import SolutionCompiler, compile_solutions
from ontoweir.rewriter.absence.compute_solutions import list_needed
from ontoweir.rewriter.absence.split_text import split_text
from ontoweir.rewriter.lasting.find_open import find_open
from ontoweir.rewriter.lasting.split_open import OpenText, split_open
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.standing.compute_standing import compute_standing
from ontoweir.rewriter.windows.window import BEGINS, ENDS


def compile_open(text: str, work: SolutionCompiler) -> SpjUnion | None:
    """The query of solutions that came some time before NOW(), and that no later row has ended
    (None: it is something else).

    Raises:
        QueryError: the query is refused anywhere.
    """
    asked = split_open(text, work.file)
    wait = None if asked is None else _read_wait(asked, work)
    if asked is None or wait is None or (split := split_text(asked.every, work.file)) is None:
        return None
    if split.around is None:
        head, distinct, around = split.head, split.distinct, None
    else:
        around = parse_query(split.around, name=work.name, file=work.file, late=split.late)[0]
        head, distinct = list_needed(around), around.distinct
    every = split.write_solutions(head, distinct=distinct)
    if len(every) != 1:
        return None
    solutions = compile_solutions(every[0], work)
    unions = [solutions.found, *(hits for hits, _, _ in solutions.parts)]
    steps = {s for union in unions for s in _list_steps(union, work)}
    if len(steps) > 1:
        raise UnitsDiffer.of(min(steps), max(steps), split.source)
    step = min(steps, default=1)
    wait = -(-wait // step) * step
    inside = split_text(asked.write_within(wait), work.file)
    assert inside is not None
    (within,) = inside.write_solutions(head, distinct=distinct)
    late = compile_solutions(within, work)
    alone = distinct and around is None
    made = find_open(solutions, late, head, work.catalog, distinct=alone)
    if made is None or around is None:
        return made
    return compute_standing(made, around, work.catalog)


def _list_steps(union: SpjUnion, work: SolutionCompiler) -> set[int]:
    """The steps of the streams of a query, in µs."""
    known = extend_catalog(work.catalog, union).streams
    tables = {o.table for q in union.disjuncts for o in q.occurrences}
    return {known[name].step_us for name in tables if name in known}


def _read_wait(asked: OpenText, work: SolutionCompiler) -> int | None:
    """How long before NOW() solutions come, in µs (None: something else is said)."""
    branches = parse_query(asked.window, name=work.name, file=work.file)
    if len({branch.buckets for branch in branches}) != 1:
        return None
    windows = [b for b in branches[0].buckets if b.name.startswith((BEGINS, ENDS))]
    if len(windows) != 1 or not windows[0].name.startswith(BEGINS):
        return None
    edge = windows[0].bucket.buckets
    return edge.after_us if isinstance(edge, Moments) else None
