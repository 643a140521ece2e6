"""Whether, and how, the rows of a replay are divided among processes."""

import sys

from ontoweir.checker.partition.derive_partition import derive_partition
from ontoweir.checker.partition.partition import ByAnything, ByKey, NotDivided, Partition
from ontoweir.mappings.model.catalog import DecimalType
from ontoweir.rewriter.algebra.is_injective import term_kind
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.engine.execution import ExecutionContext, drops_matched
from ontoweir.runtime.engine.query_job import QueryJob


def derive_division(job: QueryJob) -> Partition:
    """By which columns the rows of a query can be divided, by the plans that run."""
    watched = [(key.stream, key.columns) for key in job.watched]
    return derive_partition(job.union, job.catalog, job.plans, watched)


def plan_division(
    job: QueryJob, work: ExecutionContext, parts: int, *, changing: bool
) -> Division | str:
    """How rows are divided, or half a sentence on why they are not.

    Args:
        job: the query.
        work: what is replayed.
        parts: among how many processes.
        changing: its answers are written as they begin and end.
    """
    if job.spill:
        return "what a rule drops is kept on disk, in one place"
    if job.unbounded:
        return "the query is not bounded"
    if changing:
        return "its answers end, and when is found where all come together"
    if work.rules:
        return "which rows break a rule is found over all of them"
    if drops_matched(work):
        return "rows are dropped when nothing can join them any more, by all rows of a stream"
    if work.catalog.functions:
        return "it may call functions of Python, which other processes need not have"
    if not sys.executable:
        return "no other process can be started here"
    if not _keeps_order(work):
        return "the order of its answers is not that of what they show"
    partition = derive_division(job)
    match partition:
        case NotDivided(why=why):
            return why
        case ByAnything():
            return Division(parts, {}, frozenset())
        case ByKey(columns=columns, whole=whole):
            read = {h.stream.name: h.columns for h in work.histories}
            for stream, column in columns:
                if column not in read.get(stream, ()):
                    return f"{stream}.{column} is not read"
            scales = [0]
            for stream, name in columns:
                declared = work.catalog.streams[stream].column(name)
                if declared is not None and isinstance(declared.type, DecimalType):
                    scales.append(declared.type.scale)
            return Division(parts, dict(columns), frozenset(whole), max(scales))


def _keeps_order(work: ExecutionContext) -> bool:
    """Whether the answers of a chunk are in an order that their columns tell."""
    if work.aggregates is not None:
        return set(work.aggregates.aggregation.row) <= set(work.aggregates.answers.names)
    kinds = {
        tuple(term_kind(output) for _, output in plan.form.query.outputs) for plan in work.plans
    }
    return len(kinds) == 1
