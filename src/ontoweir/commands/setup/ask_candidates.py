"""Ask whether terms of an ontology are taken for tables and columns, one by one."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.errors import Source, UsageError

if TYPE_CHECKING:
    from ontoweir.scaffold.make_scaffold import Scaffold
    from ontoweir.scaffold.terms.candidate import Candidate
    from ontoweir.scaffold.terms.terms import Terms

_SHOWN = 8
"""So many terms are named that nothing was found for."""


def ask_candidates() -> "Callable[[Candidate, Terms], bool]":
    """Asks on stderr, and reads from standard input: y (or nothing), n, or a for all the rest that
    nothing is to be said against.

    Raises:
        UsageError: the input ends before.
    """
    rest: list[bool] = []

    def accept(candidate: "Candidate", terms: "Terms") -> bool:
        if rest:
            return candidate.doubt is None
        doubt = "" if candidate.doubt is None else f"; but {candidate.doubt}"
        usual = "Y/n" if candidate.doubt is None else "y/N"
        asked = f"{terms.show(candidate.term)} for {candidate.place}: {candidate.because}{doubt}"
        while True:
            print(f"{asked}? [{usual}/a] ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                print(file=sys.stderr)
                raise UsageError(
                    "the input ended before all candidates were answered",
                    why="terms of an ontology are taken one by one",
                    fix="answer y, n or a; or add --yes to take what nothing is to be said against",
                    source=Source("--ontology"),
                )
            match line.strip().lower():
                case "":
                    return candidate.doubt is None
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
                case "a" | "all":
                    rest.append(True)
                    return candidate.doubt is None
                case _:
                    pass

    return accept


def describe_terms(made: "Scaffold") -> list[str]:
    """How many terms of the ontology are used, and which are not."""
    chosen = made.chosen
    if chosen.vocabulary is None:
        return []
    tbox = chosen.vocabulary.tbox
    known = sorted(tbox.classes | tbox.object_properties | tbox.data_properties)
    used = {c.term for c in chosen.taken}
    unused = [chosen.terms.show(iri) for iri in known if iri not in used]
    lines = [f"  {len(used)} of {len(known)} terms of {chosen.vocabulary.file.name} are used"]
    if unused:
        more = f", and {len(unused) - _SHOWN} more" if len(unused) > _SHOWN else ""
        lines[0] += f"; no table or column for {', '.join(unused[:_SHOWN])}{more}"
    if chosen.others:
        lines.append("  mapping.r2rml.ttl names candidates that were not taken, and why")
    return lines


def list_terms(made: "Scaffold") -> list[dict[str, object]]:
    """The candidates, for JSON."""
    both = ((True, made.chosen.taken), (False, made.chosen.others))
    return [
        {
            "term": c.term,
            "as": c.part,
            "table": c.table,
            "column": c.column,
            "because": c.because,
            "doubt": c.doubt,
            "taken": taken,
        }
        for taken, candidates in both
        for c in candidates
    ]
