"""Expand a property path into patterns: sequences join, alternatives unite, inverses turn round."""

from collections.abc import Callable

import rdflib

from ontoweir.errors import QueryError
from ontoweir.rewriter.model.query import Atom, Term
from ontoweir.rewriter.sparql.patterns import Join, Pattern, Single, Union
from ontoweir.rewriter.sparql.read_terms import Terms
from ontoweir.rewriter.syntax.node import Node

MakeAtom = Callable[[object, Term, Term], Atom]
"""Makes the atom of a predicate as rdflib parsed it, a subject and an object."""
_WHY = "a query of a fixed length is what runs in bounded memory"
_REPEATED = {
    "*": "write the lengths that you need as alternatives, as in :p|:p/:p; UNION for the length 0",
    "+": "write the lengths that you need as alternatives, as in :p|:p/:p",
    "?": "write { … } UNION { … }, one branch with :p and one without it",
}


def expand_path(
    path: object,
    subject: Term,
    value: Term,
    *,
    terms: Terms,
    make_atom: MakeAtom,
    refuse: Callable[[str, str, str], QueryError],
) -> Pattern:
    """The patterns of `subject path value`.

    SPARQL 1.1 section 18.2.2: `a/b` is a join over a variable of its own and `a|b` a union, each
    with all its duplicates, so this is exact under bag semantics too.

    Raises:
        QueryError: a path of unlimited length, or a negated one.
    """

    def expand(node: object, s: Term, o: Term) -> Pattern:
        name = node.name if isinstance(node, Node) else ""
        if not isinstance(node, Node) or not name.startswith(("Path", "InversePath")):
            return Single(make_atom(node, s, o))
        part = node.get("part")
        if name == "PathNegatedPropertySet" or part is None:
            fix = "name the properties that are meant, as in :p|:q"
            raise refuse("the property path !", "what is not a property may be any other", fix)
        if "mod" in node:
            mod = str(node["mod"])
            raise refuse(f"the property path {mod}", _WHY, _REPEATED[mod])
        steps = list(part) if isinstance(part, list) else [part]
        match name:
            case "PathAlternative":
                branches = tuple(expand(step, s, o) for step in steps)
                return branches[0] if len(branches) == 1 else Union(branches)
            case "PathSequence":
                between = [terms.make_variable() for _ in steps[1:]]
                ends = zip([s, *between], [*between, o], strict=True)
                patterns = tuple(
                    expand(step, *pair) for step, pair in zip(steps, ends, strict=True)
                )
                return patterns[0] if len(patterns) == 1 else Join(patterns)
            case "PathEltOrInverse":
                return expand(steps[0], o, s)
            case _:
                return expand(steps[0], s, o)

    return expand(path, subject, value)


def first_step(path: object) -> object:
    """The first predicate that is written in a path."""
    while isinstance(path, Node) and path.name.startswith("Path") and "part" in path:
        part = path["part"]
        path = part[0] if isinstance(part, list) else part
    return path if isinstance(path, (Node, rdflib.term.Node)) else None
