"""Compile and decide queries, several at once where there are several processors."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.rendered import Rendered
from ontoweir.edit.describe_repairs import DescribedRepair
from ontoweir.errors import OntoweirError, RunError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.pipeline.refused_query import RefusedQuery

T = TypeVar("T")

FEWEST = 4
"""Fewer queries are decided in this process: another one costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A query, its verdict, and its repairs (none if it is bounded)."""

    compiled: CompiledQuery
    verdict: Verdict
    repairs: tuple[DescribedRepair, ...]


Outcome: TypeAlias = Decided | RefusedQuery
"""What became of a query."""


def decide_queries(
    workspace: Workspace,
    names: Sequence[str],
    warnings: Warnings,
    render: Callable[[Outcome], T],
    *,
    timed: bool = True,
) -> list[T]:
    """Decide queries of a project by name, in order, and render of each what the caller needs.

    Warnings come in the order of the queries; see `decide_each`.

    Raises:
        OntoweirError: the ontology or the mappings are wrong, or there is no such query.
        RunError: a process was killed.
    """
    rendered = decide_each(workspace, names, render, timed=timed)
    for message in (m for r in rendered for m in r.said):
        warnings(message)
    return [r.made for r in rendered]


def decide_each(
    workspace: Workspace, names: Sequence[str], render: Callable[[Outcome], T], *, timed: bool
) -> list[Rendered[T]]:
    """Decide queries of a project by name, in order; several at once where there are several
    processors.

    A query with an error, or one that may depend on a refused mapping, is reported as refused; it
    hides no other. Every query is decided by itself, so the answers do not depend on the number of
    processes. `render` runs where the query was decided, because a whole verdict takes long to
    move from one process to another.

    Raises:
        OntoweirError: the ontology or the mappings are wrong, or there is no such query.
        RunError: a process was killed.
    """
    for name in names:
        workspace.query_file(name)
    assert workspace.mappings is not None  # what all share is read before they part
    processes = min(_processors(), len(names) // 2)
    global _shared
    _shared = (workspace, render, timed)
    try:
        if len(names) < FEWEST or processes < 2 or not _may_fork():
            return [_decide_apart(name) for name in names]
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(processes, context, initializer=_begin) as pool:
            # not pool.map, which cancels what it leaves: a broken pool cannot bear that
            waiting = [pool.submit(_decide_apart, name) for name in names]
            try:
                return [future.result() for future in waiting]
            except BaseException:
                for child in multiprocessing.active_children():
                    child.terminate()
                raise
    except BrokenProcessPool:
        raise RunError(
            "a process that decided queries was killed",
            why="it may have run out of memory",
            fix="decide fewer queries at once: --query names one",
        ) from None
    finally:
        _shared = None


_shared: tuple[Workspace, Callable[[Outcome], Any], bool] | None = None
"""What the processes are born with."""


def _begin() -> None:
    """In a new process: Ctrl-C ends it without a word; the first process says what there is to
    say."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _decide_apart(name: str) -> Rendered[Any]:
    """Decide a query, perhaps in another process, and render it there."""
    assert _shared is not None
    workspace, render, timed = _shared
    said: list[str] = []
    mine = replace(workspace, on_warning=said.append)
    workspace.share_with(mine)
    outcome = decide_or_refuse(mine, name, lambda: mine.compile(name), timed=timed)
    final = isinstance(outcome, Decided) and not mine.ran_out
    return Rendered(render(outcome), tuple(said), final)


def decide_or_refuse(
    workspace: Workspace, name: str, compile: Callable[[], CompiledQuery], *, timed: bool
) -> Outcome:
    """Decide a query, unless it, or a mapping that could concern it, is refused."""
    try:
        return decide_compiled(workspace, compile(), timed=timed)
    except RunError:
        raise
    except OntoweirError as error:
        return RefusedQuery(name, error)


def decide_compiled(workspace: Workspace, compiled: CompiledQuery, *, timed: bool) -> Decided:
    """Decide one query, here."""
    verdict = workspace.check_and_warn(compiled, timed=timed)
    repairs = workspace.repair(compiled, timed=timed) if verdict.plans is None else ()
    return Decided(compiled, verdict, repairs)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _may_fork() -> bool:
    """On Linux, and where no other thread could be halfway through something."""
    return sys.platform == "linux" and threading.active_count() == 1
