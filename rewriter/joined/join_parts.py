"""Rows of windows joined with the latest, or the first, rows of keys, as one query."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, ColumnType, IntType
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.rewriter.joined.nest_tables import nest_tables
from ontoweir.rewriter.joined.part import Part
from ontoweir.rewriter.joined.read_joined import JoinedSql, read_joined
from ontoweir.rewriter.joined.refuse_beside import refuse_beside
from ontoweir.rewriter.joined.write_part import write_part
from ontoweir.rewriter.model.aggregation import Joined, JoinedPart
from ontoweir.rewriter.model.spj import ConstantOutput, Output, SpjUnion
from ontoweir.rewriter.ranked.open_statics import open_statics
from ontoweir.rewriter.standing.make_standing import some_value, types_of

if TYPE_CHECKING:
    from sqlglot import exp


class PartReader(Protocol):
    """Reads a part of a join; `rows`: it is of rows of a stream, any of which may show NULL."""

    def __call__(self, one: "exp.Select", *, rows: bool) -> SpjUnion:
        """The query."""


Kinds: TypeAlias = Sequence[Mapping[str, "set[ColumnType | None]"]]
"""The types of the variables of each part (None: terms)."""
PART = "part"
"""What the variable is called that says of which part a row is."""


def join_parts(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[[exp.Query], SpjUnion]",
    fresh: "PartReader",
) -> SpjUnion:
    """The query of what is joined of rows that come and go by themselves (SpjUnion.joined): a
    SELECT of rows of a window, with the latest or the first rows of keys; another one as it is
    read.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a query.
        fresh: reads a part of it, by itself.

    Raises:
        SqlRefusal: it is not read, for what a part of it is, if that is not read by itself.
    """
    nested = tree
    if (found := read_joined(tree, catalog)) is None:
        nested = nest_tables(open_statics(tree, catalog), catalog)
        found = read_joined(nested, catalog)
    made = None if found is None else _join(found, catalog, fresh)
    if isinstance(made, SpjUnion) and not _is_of_windows(made):
        return made
    try:
        return read(tree)  # of windows alone when each answer ends may be known
    except (SqlRefusal, QueryError) as refusal:
        if isinstance(made, SpjUnion):
            return made
        with suppress(SqlRefusal, QueryError):
            if nested != tree:
                return read(nested)
        if isinstance(refusal, QueryError):
            raise
        made = refuse_beside(tree, catalog) if made is None else made
        if made is None:
            raise
        raise made from refusal  # what a part is says more than what it would be in a join


def _is_of_windows(made: SpjUnion) -> bool:
    """Whether all parts are rows of windows."""
    return made.joined is not None and all(
        part.query.standing is None for part in made.joined.parts
    )


def _join(found: JoinedSql, catalog: Catalog, read: "PartReader") -> SpjUnion | SqlRefusal | None:
    """The query of the parts, or why one of them is refused (None: it is none of these)."""
    from sqlglot import exp

    unions: list[SpjUnion] = []
    for part in found.parts:
        written = write_part(part)
        of = [t for t in written.find_all(exp.Table) if find_name(t.name, catalog.streams)]
        try:
            one = read(written, rows=part.is_table)
        except SqlRefusal as refusal:
            return refusal
        statics = replace(one, blocks=()) if len(of) == 1 else one  # final at their own time
        if not comes_and_goes(statics):
            return None
        unions.append(one)
    names = [_name_columns(p, u) for p, u in zip(found.parts, unions, strict=True)]
    if any(n is None for n in names):
        return None
    known = [n for n in names if n is not None]
    kinds = [{v: types_of(u, v, catalog) for v in u.variables} for u in unions]
    if any(len(of) != 1 for kind in kinds for of in kind.values()):
        return None
    parts = []
    for n, (part, union) in enumerate(zip(found.parts, unions, strict=True)):
        made = _compare(found, known, kinds, n, part)
        if made is None:
            return None
        parts.append(replace(made, query=union, until=_rename(union.ends, n)))
    shown = tuple((name, f"{n} {known[n][column]}") for name, n, column in found.shown)
    joined = Joined(PART, tuple(parts), shown, found.distinct)
    return unite_parts(unions, joined, kinds)


def comes_and_goes(union: SpjUnion) -> bool:
    """Whether rows hold as they are told, or until a time that is known when they begin."""
    plain = union.aggregation is None and not union.distinct and not union.begins
    made = union.blocks or union.views or union.joined is not None
    if not plain or made:
        return False
    return union.standing.groups is None if union.standing is not None else bool(union.ends)


def _name_columns(part: Part, union: SpjUnion) -> dict[str, str] | None:
    """The variables that a part's columns are."""
    hidden = () if union.standing is None else union.standing.hidden
    shown = [v for v in union.variables if v not in (*hidden, *union.ends)]
    named = {v.lower(): v for v in shown}
    made = {c: named[c.lower()] for c in part.wanted if c.lower() in named}
    return made if len(made) == len(part.wanted) else None


_OPS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def _compare(
    found: JoinedSql,
    names: Sequence[Mapping[str, str]],
    kinds: Kinds,
    number: int,
    part: Part,
) -> JoinedPart[SpjUnion] | None:
    """How a part is joined with those before it (None: columns of two types are compared)."""
    equal, said = [], []
    for one, kind, other in part.compared:
        sides = []
        for of, column in (one, other):
            sides.append((of, names[of][column]))
        (n, left), (m, right) = sides
        if kinds[n][left] != kinds[m][right] or None in kinds[n][left]:
            return None
        mine = (f"{n} {left}", f"{m} {right}")
        if kind == "EQ" and (number == n) != (number == m):
            equal.append(mine if number == m else (mine[1], mine[0]))
        else:
            said.append((mine[0], _OPS[kind], mine[1]))
    return JoinedPart(None, tuple(equal), tuple(said), part.kind)  # type: ignore[arg-type]


def _rename(names: Sequence[str], number: int) -> tuple[str, ...]:
    return tuple(f"{number} {name}" for name in names)


def unite_parts(
    unions: Sequence[SpjUnion],
    joined: Joined[SpjUnion],
    kinds: Kinds,
) -> SpjUnion:
    """The rows of all parts, as one query; those of others have some value in a part's columns."""
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
        standing=None,
        joined=joined,
        views=tuple(dict.fromkeys(v for u in unions for v in u.views)),
        statics=tuple(dict.fromkeys(s for u in unions for s in u.statics)),
        buckets=tuple(dict.fromkeys(b for u in unions for b in u.buckets)),
        derived=tuple(dict.fromkeys(d for u in unions for d in u.derived)),
        blocks=tuple({b.stream.name: b for u in unions for b in u.blocks}.values()),
        hidden=tuple(dict.fromkeys(h for u in unions for h in u.hidden)),
    )
