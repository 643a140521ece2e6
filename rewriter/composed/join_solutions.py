"""Solutions that come and go by themselves, joined, as one query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ontoweir.errors import QueryError
from ontoweir.mappings.expressions.build import is_null
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    FloatType,
    StringType,
)
from ontoweir.mappings.model.column_types import XSD, natural_datatype
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    fields_of,
    map_fields,
)
from ontoweir.rewriter.absence.rename_views import rename_views
from ontoweir.rewriter.aggregates.as_having import as_having
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.composed.compute_row import RowColumn, RowReader, make_column
from ontoweir.rewriter.composed.drop_empty import (
    Known,
    drop_empty,
    hold_row,
    is_empty,
    open_nothing,
)
from ontoweir.rewriter.composed.group_solutions import group_solutions
from ontoweir.rewriter.composed.refuse_parts import refuse_shared, refuse_sides
from ontoweir.rewriter.composed.solution_part import (
    SolutionPart,
    list_kinds,
    open_begun,
    open_part,
    open_static,
)
from ontoweir.rewriter.composed.split_joined import JoinedText, PartOfText
from ontoweir.rewriter.composed.widen_sides import widen_sides
from ontoweir.rewriter.differences.since_first import FIRST, FIRST_TIME
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinedRow, JoinKind
from ontoweir.rewriter.model.query import (
    ConjunctiveQuery,
    Operation,
    TermExpression,
    Variable,
    expression_variables,
)
from ontoweir.rewriter.model.spj import ConstantOutput, IriOutput, LiteralOutput, SpjUnion
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.views.list_streams import list_read, list_streams

_SHOWN = (JoinKind.INNER, JoinKind.LEFT)


@dataclass(frozen=True, slots=True)
class Asked:
    """What reads what belongs to a join. `parse`: the text of a query of one row; `moment`: the
    query of the first timestamp of some streams."""

    parse: Callable[[str], ConjunctiveQuery]
    moment: Callable[[Sequence[str]], SpjUnion]


def join_solutions(
    asked: JoinedText, unions: Sequence[SpjUnion], name: str, catalog: Catalog, how: Asked
) -> SpjUnion | QueryError | None:
    """The query of what is joined of the solutions of texts (SpjUnion.joined); or why they are not
    joined: by a variable that may have no value, or by terms of several kinds.

    None: a part does not come and go by itself, all are of windows alone, or what is compared is
    of several types, or terms of several forms.

    Args:
        asked: the texts.
        unions: their queries.
        name: what the query is called.
        catalog: the tables.
        how: reads what else is asked.

    Raises:
        QueryError: what is computed of joined rows is not computed exactly as SPARQL has it.
    """
    unions = _name_views(unions, catalog)
    streams = tuple(dict.fromkeys(s for u in unions for s in list_read(u, catalog)))
    if not streams:
        return None
    first = partial(how.moment, streams)  # it is compiled where it is read
    unions = [hold_row(union, first, catalog) for union in unions]
    before, (asked, unions) = asked, drop_empty(asked, unions)
    whole = asked is before
    parts: list[SolutionPart] = []
    for one, union in zip(asked.parts, unions, strict=True):
        if is_empty(union):
            own: Known = dict.fromkeys(one.variables)
            parts.append(open_nothing(first(), own, catalog))
            continue
        words = [t.text.upper() for t in Tokens(one.text).tokens if t.kind == "word"]
        static = "GRAPH" not in words and not list_read(union, catalog)
        made = open_static(union, first, catalog) if static else None
        if made is None:
            in_time = _is_in_time(union)
            read = list_streams(union, catalog)
            if in_time:  # of nothing the first moment alone is read
                read = list_read(_drop_first(union), catalog) or list_read(union, catalog)
            single = words.count("GRAPH") == 1 and len(read) == 1
            stands = union.standing
            single = single or (stands is not None and (in_time or stands.waited))
            made = _open_part(union, catalog, how, single=single)
        if made is None or any(len(of) != 1 for of in made.kinds.values()):
            return None
        parts.append(made)
    if asked.unites and any({*asked.head} - part.kinds.keys() for part in parts):
        wide = widen_sides(parts, asked.head, first, catalog)
        if wide is None:
            return None
        parts = wide
        sides = tuple(replace(part, variables=asked.head) for part in asked.parts)
        asked = replace(asked, parts=sides)
    plain = all(part.kind is JoinKind.INNER for part in asked.parts) and asked.around is None
    windows = all(part.union.standing is None and not part.ever for part in parts)
    alone = not any(part.groups or part.union.joined for part in parts)
    if whole and plain and windows and alone:
        return None  # when each answer ends is known
    joiner = _Joiner(asked, parts, name, catalog, how)
    return joiner.join(streams) or joiner.why


def _open_part(
    union: SpjUnion, catalog: Catalog, how: Asked, *, single: bool
) -> SolutionPart | None:
    """The rows of a part; of the first groups a query that joins nothing with them."""
    union = as_having(union) or union  # which groups are there may change
    groups = union.aggregation
    streams = tuple(list_read(union, catalog))
    if union.standing is not None and union.standing.groups is not None:
        begun = open_begun(how.moment(streams), catalog)
        latest = group_solutions(union, begun, catalog)
        return None if latest is None else open_part(latest, catalog)
    if groups is None or groups.numbered is None:
        return open_part(union, catalog, single=single)
    every = replace(union, aggregation=replace(groups, numbered=None))
    whole = open_part(every, catalog, single=single)
    if whole is None:
        return None
    names = groups.numbered.columns
    text = PartOfText("", names, JoinKind.INNER, ())
    asked = JoinedText((text,), names, distinct=False, around=None, late=frozenset())
    made = _Joiner(asked, [whole], union.name, catalog, how).join(streams)
    if made is None or made.joined is None:
        return None
    first = replace(made.joined, numbered=groups.numbered)
    return open_part(replace(made, joined=first), catalog)


class _Joiner:
    """Makes the query."""

    def __init__(
        self,
        asked: JoinedText,
        parts: Sequence[SolutionPart],
        name: str,
        catalog: Catalog,
        how: Asked,
    ) -> None:
        self.asked, self.parts, self.name = asked, parts, name
        self.catalog, self.how = catalog, how
        self.where: dict[str, int] = {}
        for number, part in enumerate(asked.parts):
            for variable in part.variables if part.kind in _SHOWN else ():
                self.where.setdefault(variable, number)
        self.rest: list[TermExpression] = []
        self.why: QueryError | None = None
        """Why they are not joined, if that is known."""

    def join(self, streams: Sequence[str]) -> SpjUnion | None:
        """The query of the parts."""
        made: list[JoinedPart[SpjUnion]] = []
        for number, part in enumerate(self.asked.parts):
            one = self._join_part(number, part)
            if one is None:
                return None
            made.append(one)
        read = [v.name for e in self.rest for v in sorted(expression_variables(e))]
        names = tuple(dict.fromkeys((*self.asked.head, *read)))
        shown = [(v, _name(self.where[v], v)) for v in names]
        row = None
        made_of = any(part.groups or part.union.joined for part in self.parts)
        made_of |= any(part.kind is JoinKind.UNION for part in self.asked.parts)
        if self.asked.around is not None or self.rest or made_of:
            row = self._compute(names)
            if row is None:
                return None
        unions = [part.union for part in self.parts]
        kinds = [list_kinds(union, self.catalog) for union in unions]
        aggregations = [part.groups for part in made] + ([] if row is None else [row.groups])
        if any(a is not None and not a.group for a in aggregations):
            first = open_begun(self.how.moment(streams), self.catalog)
            until = tuple(_name(len(made), v) for v in first.ends)
            made.append(JoinedPart(first, kind=JoinKind.BEGUN, until=until, ever=""))
            unions.append(first)
            kinds.append(list_kinds(first, self.catalog))
        joined = Joined(PART, tuple(made), tuple(shown), self.asked.distinct, row)
        if any(len(of) != 1 for kind in kinds for of in kind.values()):
            return None
        return replace(unite_parts(unions, joined, kinds), name=self.name)

    def _join_part(self, number: int, part: PartOfText) -> JoinedPart[SpjUnion] | None:
        """How a part is joined with those before it (None: terms of several forms)."""
        union = self.parts[number].union
        shared = [v for v in part.variables if self.where.get(v, number) < number]
        united = part.kind is JoinKind.UNION
        unlike_sides = [v for v in part.variables if united and self._column(number, v) is None]
        if unlike_sides:
            self.why = refuse_sides(unlike_sides[0], union.source)
            return None
        loose = [v for v in shared if self._is_compatible(number, part, v)]
        shared = [v for v in shared if v not in loose]
        unlike_of = (v for v in shared if not self._are_alike(self.where[v], number, v))
        if not united and (name := next(unlike_of, None)) is not None:
            lack = any(self._may_lack(n, name) for n in (self.where[name], number))
            self.why = refuse_shared(name, part.kind, union.source, lack=lack)
            return None
        said, unlike = [], list[TermExpression]()
        for one, sign, other in part.said:
            sides = [self._find(v, number, part.variables) for v in (one, other)]
            if self._is_ordered(sides, sign):
                said.append((_name(*sides[0]), sign, _name(*sides[1])))
            else:
                sign = "!=" if sign == "<>" else sign
                unlike.append(Operation(sign, (Variable(one), Variable(other))))
        on = self._read_on(number, part, unlike)
        for agrees in (self._agree(number, v) for v in loose):
            on = agrees if on is None else Call(Function.AND, (on, agrees), BooleanType())
        if part.kind is JoinKind.INNER:
            self.rest += unlike
        equal = tuple((_name(self.where[v], v), _name(number, v)) for v in shared)
        until = tuple(_name(number, v) for v in union.ends)
        since = tuple(_name(number, v) for v in union.begins)
        groups, ever = self.parts[number].groups, "static" if self.parts[number].ever else None
        return JoinedPart(union, equal, tuple(said), part.kind, until, groups, on, since, ever)

    def _is_compatible(self, number: int, part: PartOfText, variable: str) -> bool:
        """Whether a variable of those before it, where it has a value, may have none in a part,
        which is compatible with any (MINUS, which is not told from others, takes nothing then)."""
        before = self.where[variable]
        if part.kind not in (JoinKind.INNER, JoinKind.LEFT) or not self._may_lack(number, variable):
            return False
        if self.asked.parts[before].kind is JoinKind.LEFT or self._may_lack(before, variable):
            return False
        return self._are_alike(before, number, variable, loosely=True)

    def _may_lack(self, number: int, variable: str) -> bool:
        """Whether a part has solutions in which a variable has no value."""
        part = self.parts[number]
        optional = (isinstance(t, LiteralOutput) and t.optional for t in part.terms[variable])
        return variable in part.loose or any(optional)

    def _agree(self, number: int, variable: str) -> Expression:
        """That a variable has no value in a part, or that of those before it."""
        (kind,) = self.parts[number].kinds[variable]
        places = (self.where[variable], number)
        before, own = (Field(_name(n, variable), kind or StringType()) for n in places)
        equal = Call(Function.EQUAL, (before, own), BooleanType())
        return Call(Function.OR, (is_null(own), equal), BooleanType())

    def _read_on(
        self, number: int, part: PartOfText, unlike: Sequence[TermExpression]
    ) -> Expression | None:
        """What else a part is joined by (None: nothing)."""
        inner = part.kind is JoinKind.INNER
        query = None if part.on is None else self.how.parse(part.on)
        if query is not None and (query.filters or query.choices):
            raise QueryError(
                "a FILTER beside groups, the latest of keys or windows, which is not computed",
                why="it chooses which of them are joined, or are absent",
                fix="write it inside of their SELECT, as HAVING",
                source=query.source,
            )
        filters = [(e, None) for e in (() if inner else unlike)]
        of = {**self.where, **dict.fromkeys(part.variables, number)}
        columns = {v: column for v, n in of.items() if (column := self._column(n, v)) is not None}
        reader = RowReader(columns, self.catalog)
        found = None if query is None or query.computation is None else query.computation.filters
        made = reader.condition([*(found or ()), *filters])
        if made is None:
            return None
        fields = fields_of(made).items()
        return map_fields(made, {n: Field(_name(of[n], n), f.type) for n, f in fields})

    def _compute(self, names: Sequence[str]) -> JoinedRow[SpjUnion] | None:
        """What is computed of joined rows."""
        columns: dict[str, RowColumn] = {}
        for variable in names:
            column = self._column(self.where[variable], variable)
            if column is None:
                return None
            columns[variable] = column
        reader = RowReader(columns, self.catalog)
        more = [(e, None) for e in self.rest]
        if self.asked.around is None:
            return reader.show(self.name, self.asked.head, more)
        return reader.compute(self.how.parse(self.asked.around), more)

    def _column(self, number: int, variable: str) -> RowColumn | None:
        """A variable of a part, or of all that are united, among joined rows."""
        kinds = [part.kind for part in self.asked.parts]
        united = [n for n, kind in enumerate(kinds) if kind is JoinKind.UNION]
        numbers = [0, *united] if united else [number]
        parts = [self.parts[n] for n in numbers]
        types = {kind or StringType() for part in parts for kind in part.kinds[variable]}
        terms = [term for part in parts for term in part.terms[variable]]
        if len(types) != 1:
            return None
        loose = any(self._may_lack(n, variable) for n in numbers)
        left = kinds[number] is JoinKind.LEFT
        return make_column(variable, types.pop(), terms, sure=not (left or loose))

    def _find(self, variable: str, number: int, own: Sequence[str]) -> tuple[int, str]:
        """The part that a variable is read of: of several of them that are equal, this one."""
        return (number if variable in own else self.where[variable]), variable

    def _is_ordered(self, sides: Sequence[tuple[int, str]], sign: str) -> bool:
        """Whether two variables have values of one type, which are compared as such: literals of
        the type that columns have, or, by = and <> alone, texts of one language."""
        one, other = (self.parts[n].kinds[v] for n, v in sides)
        if one != other or None in one:
            return False
        (kind,) = one
        assert kind is not None
        outputs = [o for n, v in sides for o in self.parts[n].terms[v]]
        terms = {(_datatype_of(o), o.language) for o in outputs if isinstance(o, LiteralOutput)}
        if not outputs or len(terms) != 1 or not all(isinstance(o, LiteralOutput) for o in outputs):
            return False
        ((datatype, language),) = terms
        plain = (natural_datatype(kind), None)
        return (datatype, language) == plain or (datatype is None and sign in ("=", "<>"))

    def _are_alike(self, one: int, other: int, variable: str, *, loosely: bool = False) -> bool:
        """Whether equal terms of a variable are equal texts, or values of one type: all are IRIs,
        or literals of one datatype. A double has several terms of one value (0 and -0).
        `loosely`: where they have values."""
        if any(variable in self.parts[n].loose for n in (one, other)) and not loosely:
            return False  # what has no value is compatible with anything
        outputs = [o for n in (one, other) for o in self.parts[n].terms[variable]]
        if all(isinstance(o, IriOutput) or _is_iri(o) for o in outputs):
            return True
        literals = [o for o in outputs if isinstance(o, LiteralOutput)]
        literals = [o for o in literals if loosely or not o.optional]
        terms = {(o.datatype, o.language) for o in literals}
        of: set[ColumnType | None] = {
            k for n in (one, other) for k in self.parts[n].kinds[variable]
        }
        plain = len(of) == 1 and not any(isinstance(kind, FloatType) for kind in of)
        return len(literals) == len(outputs) and len(terms) == 1 and plain


def _is_in_time(union: SpjUnion) -> bool:
    """Whether the answers that a query reads are final at the time of their rows."""
    return all(
        block.time is not None and block.time[1] == 0 and all(map(_is_in_time, block.queries))
        for block in union.blocks
    )


def _drop_first(union: SpjUnion) -> SpjUnion:
    """A query without the first moment of its streams, which is there in time whatever they are."""
    blocks = (b for b in union.blocks if not b.stream.name.startswith((FIRST, FIRST_TIME)))
    return replace(union, blocks=tuple(blocks))


def _name(number: int, variable: str) -> str:
    return f"{number} {variable}"


def _datatype_of(output: LiteralOutput) -> str | None:
    """The datatype of a literal (None: it is a plain text, or of a language)."""
    return None if output.datatype == f"{XSD}string" else output.datatype


def _is_iri(output: object) -> bool:
    return isinstance(output, ConstantOutput) and output.is_iri


def _name_views(unions: Sequence[SpjUnion], catalog: Catalog) -> list[SpjUnion]:
    """The queries, each with other names for its views than those before it have."""
    taken = {*catalog.streams, *catalog.relations}
    made: list[SpjUnion] = []
    for union in unions:
        made.append(rename_views(union, taken) if made and union.views else union)
        taken |= {v.name for v in made[-1].views}
    return made
