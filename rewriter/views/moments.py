"""The view of all timestamps, which no mapping makes: when what always holds, holds."""

from ontoweir.rewriter.model.spj import View

EVERY_TIME = "every timestamp of a stream"
"""What its rows stand for: in a Provenance, in place of a triples map."""


def is_moments(view: View) -> bool:
    """Whether the rows of a view are timestamps alone."""
    return not any(branch.provenance for branch in view.branches)
