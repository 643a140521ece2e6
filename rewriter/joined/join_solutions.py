"""Solutions that come and go by themselves, joined, as one query."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog, ColumnType, FloatType
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.absence.split_joined import JoinedText
from ontoweir.rewriter.algebra.equality_classes import constant_type
from ontoweir.rewriter.joined.join_parts import PART, Kinds, unite_parts
from ontoweir.rewriter.joined.part_rows import comes_and_goes
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import ConstantOutput, IriOutput, LiteralOutput, SpjUnion
from ontoweir.rewriter.standing.answers_of import answers_of
from ontoweir.rewriter.standing.make_standing import types_of


def join_solutions(
    asked: JoinedText, unions: Sequence[SpjUnion], name: str, catalog: Catalog
) -> SpjUnion | None:
    """The query of what is joined of the solutions of texts (SpjUnion.joined).

    None: a part does not come and go by itself, all are of windows alone, or what is compared is
    of several types, or terms of several forms.

    Args:
        asked: the texts.
        unions: their queries.
        name: what the query is called.
        catalog: the tables.
    """
    unions = _name_views(unions, catalog)
    if not all(_is_read(one) for one in unions):
        return None
    plain = all(part.kind is JoinKind.INNER for part in asked.parts)
    if plain and all(one.standing is None for one in unions):
        return None  # of windows alone: when each answer ends is known
    kinds = [{v: _list_types(u, v, catalog) for v in u.variables} for u in unions]
    if any(len(of) != 1 for kind in kinds for of in kind.values()):
        return None
    where: dict[str, int] = {}
    for number, part in enumerate(asked.parts):
        for variable in part.variables if part.kind in _SHOWN else ():
            where.setdefault(variable, number)
    parts = []
    for number, (part, union) in enumerate(zip(asked.parts, unions, strict=True)):
        shared = [v for v in part.variables if where.get(v, number) < number]
        if not all(_are_alike((unions[where[v]], union), v, catalog) for v in shared):
            return None
        said = []
        for one, sign, other in part.said:
            sides = [_find(v, number, part.variables, where) for v in (one, other)]
            if not _is_ordered(sides, kinds):
                return None
            said.append((_name(sides[0]), sign, _name(sides[1])))
        equal = tuple((_name((where[v], v)), _name((number, v))) for v in shared)
        until = tuple(_name((number, v)) for v in union.ends)
        parts.append(JoinedPart(union, equal, tuple(said), part.kind, until))
    shown = tuple((v, _name((where[v], v))) for v in asked.head)
    joined = Joined(PART, tuple(parts), shown, asked.distinct)
    return replace(unite_parts(unions, joined, kinds), name=name)


_SHOWN = (JoinKind.INNER, JoinKind.LEFT)


def _list_types(union: SpjUnion, variable: str, catalog: Catalog) -> set[ColumnType | None]:
    """The types of a variable, those of constants too (None: terms)."""
    outputs = [dict(q.outputs)[variable] for q in union.disjuncts]
    constants = [o for o in outputs if isinstance(o, ConstantOutput) and not o.is_iri]
    if len(constants) < len(outputs):
        return types_of(union, variable, catalog)
    return {constant_type(o) for o in constants}


def _name_views(unions: Sequence[SpjUnion], catalog: Catalog) -> list[SpjUnion]:
    """The queries, each with other names for its views than those before it have."""
    taken = {*catalog.streams, *catalog.relations}
    made: list[SpjUnion] = []
    for union in unions:
        made.append(rename_views(union, taken) if made and union.views else union)
        taken |= {v.name for v in made[-1].views}
    return made


def _is_read(union: SpjUnion) -> bool:
    return comes_and_goes(replace(union, views=()))


def _find(
    variable: str, number: int, own: Sequence[str], where: Mapping[str, int]
) -> tuple[int, str]:
    """The part that a variable is read of: of several of them that are equal, this one."""
    return (number if variable in own else where[variable]), variable


def _name(of: tuple[int, str]) -> str:
    return f"{of[0]} {of[1]}"


def _is_ordered(sides: Sequence[tuple[int, str]], kinds: Kinds) -> bool:
    """Whether two variables have values of one type, which are compared as such."""
    one, other = (kinds[n][v] for n, v in sides)
    return one == other and None not in one


def _are_alike(unions: Sequence[SpjUnion], variable: str, catalog: Catalog) -> bool:
    """Whether equal terms of a variable are equal texts, or values of one type: all are IRIs, or
    literals of one datatype. A double has several terms of one value (0 and -0)."""
    rows = [q for u in unions for q in answers_of(u.disjuncts, u.standing)]
    outputs = [dict(q.outputs)[variable] for q in rows]
    if all(isinstance(o, IriOutput) or _is_iri(o) for o in outputs):
        return True
    literals = [o for o in outputs if isinstance(o, LiteralOutput) and not o.optional]
    terms = {(o.datatype, o.language) for o in literals}
    of = {kind for u in unions for kind in types_of(u, variable, catalog)}
    plain = len(of) == 1 and not any(isinstance(kind, FloatType) for kind in of)
    return len(literals) == len(outputs) and len(terms) == 1 and plain


def _is_iri(output: object) -> bool:
    return isinstance(output, ConstantOutput) and output.is_iri
