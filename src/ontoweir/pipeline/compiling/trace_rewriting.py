"""What the rewriting by existential axioms made, as steps of a trace."""

from collections.abc import Iterable

from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.ucq.show_ucq import format_cq


def trace_rewriting(rewritten: Iterable[ConjunctiveQuery]) -> list[TraceStep]:
    """A step for each query, with the axioms that it is by."""
    return [
        TraceStep("existential axioms", f"branch {q.branch + 1}", f"{format_cq(q)}{_because(q)}")
        for q in rewritten
    ]


def _because(query: ConjunctiveQuery) -> str:
    texts = dict.fromkeys(text for text, _ in query.axioms)
    return f", by {'; '.join(texts)}" if texts else ", as written"
