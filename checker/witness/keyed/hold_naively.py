"""Which answers of a query hold at a time, of a few rows, computed naively."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from ontoweir.checker.witness.keyed.compute import (
    UnknownAnswerError,
    compute,
    read_time,
)
from ontoweir.checker.witness.keyed.group_naively import (
    Rows,
    group_naively,
    number_naively,
    shape_row,
)
from ontoweir.checker.witness.keyed.match_naively import GivenRows, Match, match_naively
from ontoweir.mappings.model.catalog import (
    Catalog,
)
from ontoweir.mappings.model.expression import fields_of
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import NumberedGroups, Standing
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import (
    SpjUnion,
    output_attributes,
)

_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": eq,
    "<>": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def hold_naively(
    union: SpjUnion,
    catalog: Catalog,
    rows: GivenRows,
    now_us: int,
) -> tuple[tuple[str, ...], Rows]:
    """The answers that hold at a time, or, of a query whose answers stay, all until then; and what
    their columns are.

    Args:
        union: the query.
        catalog: the tables that it is written over.
        rows: of each table, without what is computed of them.
        now_us: the time; later rows are not there yet.

    Raises:
        UnknownAnswerError: they are not computed here.
        TooLongError: there are too many matches to look at.
        RepeatedError: as evaluate_naively.
    """
    if union.joined is not None:
        return _join(union.joined, catalog, rows, now_us)
    if union.statics:
        raise UnknownAnswerError
    wide = extend_catalog(catalog, union)
    found = match_naively(union, wide, rows, now_us)
    if union.standing is not None and union.standing.first is None:
        found = _list_standing(union.standing, found)
    names = union.variables
    held = [m for m in found if _is_shown(union, m[0], now_us)]
    if union.standing is not None and (first := union.standing.first) is not None:
        numbered = NumberedGroups(union.standing.key, first, names)
        kept = number_naively(numbered, (m[0] for m in held for _ in range(m[2])))
        held = [(row, 0, 1) for row in kept]
    counted: Rows = Counter()
    for row, _, count in held:
        counted[tuple(row[n] for n in names)] += count
    standing = union.standing
    if standing is not None:
        if union.aggregation is not None:
            raise UnknownAnswerError
        shown = tuple(n for n in names if n not in standing.hidden)
        if standing.groups is not None:
            return group_naively(standing.groups, names, counted)
        return shown, _show(names, shown, counted, standing.distinct or union.distinct)
    if union.aggregation is not None:
        if union.distinct:
            counted = Counter(dict.fromkeys(counted, 1))
        return group_naively(union.aggregation, names, counted)
    hidden = {*union.ends, *union.begins}
    shown = tuple(n for n in names if n not in hidden)
    return shown, _show(names, shown, counted, union.distinct)


def _show(names: Sequence[str], shown: Sequence[str], rows: Rows, once: bool) -> Rows:
    """Some of the columns of rows."""
    place = [names.index(n) for n in shown]
    made: Rows = Counter()
    for row, count in rows.items():
        made[tuple(row[p] for p in place)] += count
    return Counter(dict.fromkeys(made, 1)) if once else made


def _is_shown(union: SpjUnion, row: Mapping[str, Any], now_us: int) -> bool:
    """Whether a row has come into its windows, and not left them."""
    ends = (row[n] for n in union.ends)
    begins = (row[n] for n in union.begins)
    return all(t is None or read_time(t) > now_us for t in ends) and all(
        t is None or read_time(t) <= now_us for t in begins
    )


def _list_standing(standing: Standing, found: Sequence[Match]) -> list[Match]:
    """The answers that no row of their key has ended."""
    alone = standing.ender is None
    mark = standing.ender or ""
    answers = [m for m in found if alone or m[0][mark] == 0]
    enders: dict[tuple[Any, ...], list[int]] = {}
    for row, at, _ in found if alone else (m for m in found if m[0][mark] == 1):
        enders.setdefault(tuple(row[n] for n in standing.key), []).append(at)

    def is_ended(match: Match) -> bool:
        row, at, _ = match
        key = tuple(row[n] for n in standing.key)
        if None in key and not (alone or standing.nulls):
            return False
        times = enders.get(key, ())
        if standing.ever and any(t < at for t in times):
            return True
        return any(t >= at if standing.inclusive else t > at for t in times)

    return [m for m in answers if not is_ended(m)]


def _join(
    joined: Joined[SpjUnion],
    catalog: Catalog,
    rows: GivenRows,
    now_us: int,
) -> tuple[tuple[str, ...], Rows]:
    made: list[dict[str, Any]] = []
    for number, part in enumerate(joined.parts):
        if part.kind is JoinKind.BEGUN:
            continue  # what is not grouped has a row here, whether one has come or not
        query = part.query if part.ever is None else _drop_begin(part.query)
        names, held = hold_naively(query, catalog, rows, now_us)
        if part.groups is not None:
            names, held = group_naively(part.groups, names, held)
        mine = [
            {f"{number} {n}": v for n, v in zip(names, row, strict=True)}
            for row, count in held.items()
            for _ in range(count)
        ]
        made = mine if number == 0 else list(_meet(part, made, mine, number, names))
    shown = tuple(name for name, _ in joined.shown)
    found: Rows = Counter(tuple(row.get(v) for _, v in joined.shown) for row in made)
    if joined.row is not None:
        shape, shaped = joined.row.shape, Counter[tuple[Any, ...]]()
        for row, count in found.items():
            content = dict(zip(shown, row, strict=True))
            if shape_row(shape, content):
                shaped[tuple(content[n] for n in shape.columns)] += count
        shown, found = shape.columns, shaped
        if joined.row.groups is not None:
            shown, found = group_naively(joined.row.groups, shown, found)
    if joined.distinct:
        found = Counter(dict.fromkeys(found, 1))
    if joined.numbered is not None:
        kept = number_naively(
            joined.numbered,
            [dict(zip(shown, r, strict=True)) for r, count in found.items() for _ in range(count)],
        )
        shown = joined.numbered.columns
        found = Counter(tuple(row[n] for n in shown) for row in kept)
    return shown, found


def _drop_begin(union: SpjUnion) -> SpjUnion:
    """Static rows that are told from the first timestamp on, as if they always were."""
    made = {block.stream.name for block in union.blocks}
    disjuncts = []
    for query in union.disjuncts:
        first = {o.alias for o in query.occurrences if o.table in made}
        disjuncts.append(
            replace(
                query,
                occurrences=tuple(o for o in query.occurrences if o.alias not in first),
                conditions=tuple(
                    c
                    for c in query.conditions
                    if not first & {a.alias for a in condition_attributes(c)}
                ),
                outputs=tuple(
                    (n, o)
                    for n, o in query.outputs
                    if not first & {a.alias for a in output_attributes(o)}
                ),
            )
        )
    names = tuple(n for n in union.variables if n not in (*union.ends, *union.begins))
    return replace(
        union,
        variables=names,
        disjuncts=tuple(disjuncts),
        blocks=(),
        buckets=(),
        ends=(),
        begins=(),
    )


def _meet(
    part: JoinedPart[SpjUnion],
    before: Sequence[dict[str, Any]],
    mine: Sequence[dict[str, Any]],
    number: int,
    names: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Rows of the parts before one, and its own, joined."""
    if part.kind is JoinKind.UNION:
        yield from before
        yield from ({theirs: row[own] for theirs, own in part.equal} for row in mine)
        return
    for row in before:
        beside = [{**row, **one} for one in mine if _goes_with(part, {**row, **one})]
        match part.kind:
            case JoinKind.PRESENT:
                yield from [row] if beside else []
            case JoinKind.ABSENT:
                yield from [] if beside else [row]
            case JoinKind.LEFT if not beside:
                yield {**row, **{f"{number} {n}": None for n in names}}
            case _:
                yield from beside


def _goes_with(part: JoinedPart[SpjUnion], row: Mapping[str, Any]) -> bool:
    """Whether rows that are beside each other are joined."""
    for one, other in part.equal:
        left, right = row.get(one), row.get(other)
        if left != right or (left is None and not part.nulls):
            return False
    for one, op, other in part.said:
        left, right = row.get(one), row.get(other)
        if left is None or right is None or not _COMPARE[op](left, right):
            return False
    if part.on is None:
        return True
    missing = fields_of(part.on).keys() - row.keys()
    return compute(part.on, {**row, **dict.fromkeys(missing)}) is True
