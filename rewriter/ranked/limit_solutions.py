"""ORDER BY … LIMIT n of solutions that stay, in SPARQL: the first of all that came."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, IntType
from ontoweir.mappings.model.column_types import XSD, datatype_family
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    Output,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.rewriter.ranked.split_limit import LimitedGroups
from ontoweir.rewriter.ties.note_ties import note_ties

_HIDDEN = "of the first: "
_NUMBER = f"{_HIDDEN}number"


def limit_solutions(union: SpjUnion, asked: LimitedGroups, catalog: Catalog) -> SpjUnion | None:
    """The solutions with the first numbers in an order, each of which holds until as many others
    come before it (None: they are groups, a set, or come and go).

    Args:
        union: the query of all solutions.
        asked: which; what has no value comes before all that have, as SPARQL says.
        catalog: the tables.

    Solutions that are equal in the order follow each other by what else they show.

    Raises:
        QueryError: they are ordered by what is no literal of one type.
    """
    plain = union.aggregation or union.standing or union.joined or union.ends or union.begins
    if plain or union.distinct or not union.disjuncts:
        return None
    wide = extend_catalog(catalog, union)
    named = [dict(query.outputs) for query in union.disjuncts]
    types = [Types(wide, query.occurrences) for query in union.disjuncts]
    names = [name for name, _ in asked.order]
    if not {*names} <= {*union.variables}:
        return None
    for name in names:
        if not _is_ordered([one[name] for one in named], types):
            raise QueryError(
                f"ORDER BY ?{name} with LIMIT, which is no literal of one type of column",
                why="the first solutions are kept in the order of values",
                fix="order by values, such as a number, a time or a name",
                source=union.source and replace(union.source, line=asked.line),
            )
    order = [(name, falls, not falls) for name, falls in asked.order]
    hidden: list[str] = []
    added: list[list[tuple[str, Output]]] = [[] for _ in named]
    rest = [v for v in union.variables if v not in names]
    for variable in rest:
        made = _tell_apart(variable, [one[variable] for one in named], types)
        if made is None:
            return None
        for name, values in made:
            order.append((name, False, True))
            if name != variable:
                hidden.append(name)
                for outputs, value in zip(added, values, strict=True):
                    outputs.append((name, value))
    number = None
    if asked.least > 1:
        number = _NUMBER
        hidden.append(number)
        for outputs in added:
            outputs.append((number, ConstantOutput("1", False, f"{XSD}integer", kind=IntType())))
    first = FirstRows(Numbering.ROWS, asked.limit, tuple(order), number=number, least=asked.least)
    if rest:
        said = " ".join(f"DESC(?{n})" if falls else f"?{n}" for n, falls in asked.order)
        union = note_ties(union, f"ORDER BY {said}", ["?" + v for v in rest])
    pairs = zip(union.disjuncts, added, strict=True)
    return replace(
        union,
        variables=(*union.variables, *hidden),
        disjuncts=tuple(replace(q, outputs=(*q.outputs, *more)) for q, more in pairs),
        standing=Standing((), hidden=tuple(hidden), first=first),
    )


def _is_ordered(outputs: Sequence[Output], types: Sequence[Types]) -> bool:
    """Whether they are literals of columns of one type, in the order of their values."""
    literals = [o for o in outputs if isinstance(o, LiteralOutput) and o.language is None]
    if len(literals) < len(outputs):
        return False
    kinds = {t.type_of(o.value) for t, o in zip(types, literals, strict=True)}
    families = {datatype_family(o.datatype) for o in literals}
    return len(kinds) == 1 and len(families) == 1 and None not in families


def _tell_apart(
    variable: str, outputs: Sequence[Output], types: Sequence[Types]
) -> list[tuple[str, list[Output]]] | None:
    """Columns that are equal only in equal terms of a variable: itself, where it is a literal, or
    those of which the term is made (None: they are made in different ways)."""
    first = outputs[0]
    if all(isinstance(o, ConstantOutput) for o in outputs):
        return [] if len({*outputs}) == 1 else None
    if isinstance(first, LiteralOutput):
        literals = [o for o in outputs if isinstance(o, LiteralOutput)]
        if len(literals) < len(outputs):
            return None
        kinds = {t.type_of(o.value) for t, o in zip(types, literals, strict=True)}
        return [(variable, [])] if len(kinds) == 1 else None
    if not isinstance(first, IriOutput | TemplateLiteralOutput):
        return None
    shapes = set()
    for output, known in zip(outputs, types, strict=True):
        if not isinstance(output, IriOutput | TemplateLiteralOutput):
            return None
        shapes.add(tuple(known.type_of(p) if isinstance(p, Attribute) else p for p in output.parts))
    if len(shapes) > 1:
        return None
    columns = zip(*(_list_columns(o) for o in outputs), strict=True)
    return [
        (f"{_HIDDEN}{variable} {n}", [LiteralOutput(a) for a in column])
        for n, column in enumerate(columns)
    ]


def _list_columns(output: Output) -> Iterator[Attribute]:
    if isinstance(output, IriOutput | TemplateLiteralOutput):
        yield from (p for p in output.parts if isinstance(p, Attribute))
