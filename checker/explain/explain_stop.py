"""What is said of a query whose decision took too long."""

from ontoweir.checker.model.criterion import CriterionResult, Failure
from ontoweir.diagnostics import CODES, Diagnostic
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import show_limit


def explain_stop(what: str, union: SpjUnion) -> Diagnostic:
    """That a search stopped because its time was over: nothing follows from it."""
    return Diagnostic(
        code=CODES["plan"],
        message=f"undecided: the search for {what} stopped after {show_limit()}",
        hint="give it more time (--time-limit SECONDS, 0: no limit), or ask for less at once: "
        "fewer tables, comparisons or branches",
        source=union.source,
    )


def name_stopped() -> CriterionResult:
    """In the place of a criterion that was not reached: it neither holds nor fails."""
    what = f"not decided in {show_limit()}"
    return CriterionResult("lag", (Failure("time", what, ""),), necessary=False)
