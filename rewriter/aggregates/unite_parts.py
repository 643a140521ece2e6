"""The rows of several parts of a join, as one query."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ontoweir.mappings.model.catalog import ColumnType, IntType
from ontoweir.rewriter.absence.rename_views import part_views
from ontoweir.rewriter.model.joined import Joined
from ontoweir.rewriter.model.spj import ConstantOutput, Output, SpjUnion
from ontoweir.rewriter.standing.make_standing import some_value

Kinds: TypeAlias = Sequence[Mapping[str, "set[ColumnType | None]"]]
"""The types of the variables of each part (None: terms)."""
PART = "part"
"""What the variable is called that says of which part a row is."""


def unite_parts(
    unions: Sequence[SpjUnion],
    joined: Joined[SpjUnion],
    kinds: Kinds,
) -> SpjUnion:
    """The rows of all parts, as one query; those of others have some value in a part's columns."""
    unions = part_views(unions)
    columns = [(n, v) for n, union in enumerate(unions) for v in union.variables]
    disjuncts = []
    for number, union in enumerate(unions):
        for query in union.disjuncts:
            own = dict(query.outputs)
            outputs: list[tuple[str, Output]] = [
                (PART, ConstantOutput(str(number), is_iri=False, kind=IntType()))
            ]
            outputs += [
                (f"{n} {v}", own[v] if n == number else some_value(kinds[n][v])) for n, v in columns
            ]
            disjuncts.append(replace(query, outputs=tuple(outputs)))
    first = unions[0]
    return replace(
        first,
        variables=(PART, *(f"{n} {v}" for n, v in columns)),
        disjuncts=tuple(disjuncts),
        distinct=False,
        ends=(),
        begins=(),
        standing=None,
        joined=joined,
        views=tuple(dict.fromkeys(v for u in unions for v in u.views)),
        statics=tuple(dict.fromkeys(s for u in unions for s in u.statics)),
        buckets=tuple(dict.fromkeys(b for u in unions for b in u.buckets)),
        derived=tuple(dict.fromkeys(d for u in unions for d in u.derived)),
        blocks=tuple({b.stream.name: b for u in unions for b in u.blocks}.values()),
        hidden=tuple(dict.fromkeys(h for u in unions for h in u.hidden)),
    )
