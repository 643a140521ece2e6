"""Witnesses against groups of which HAVING, or expressions, make what is shown."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from math import isfinite

from ontoweir.checker.witness.confirm.confirm_shown import can_show, confirm_shown
from ontoweir.checker.witness.evaluate_naively import TooLongError, counting_steps
from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.checker.witness.layout.choose_told import choose_told
from ontoweir.checker.witness.layout.derive_rows import compute_derived, without_derived
from ontoweir.checker.witness.list_tied import list_tied
from ontoweir.checker.witness.query_to_refute import query_to_refute
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, FloatType, IntType, Relation, Stream
from ontoweir.mappings.model.expression import Call, Expression, Value, fields_of
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import LiteralOutput, SpjUnion, output_attributes

_MOST = 300
"""A suffix is repeated so often at most, to bring a group to what HAVING asks for."""


def show_rows(union: SpjUnion, catalog: Catalog, witness: Witness) -> Witness | None:
    """A witness against a query, made of one against its groups without HAVING and expressions.

    Its suffixes come several times, one time after the other, and what is aggregated has values
    beside the constants of the query, the same for all copies. None: none is confirmed.
    """
    if not can_show(union) or union.buckets or union.views or _limits_groups(union, catalog):
        return None
    numbers = sorted({n for e in _expressions(union) for n in _list_numbers(e)})
    near = {d for n in numbers for d in (n - 1, n, n + 1, n + 2)}
    repeats = sorted({1, 2} | {n for n in near if 0 < n <= _MOST})
    values = sorted({0, 10} | near)
    answers = query_to_refute(union, union, catalog, timed=True)
    arguments = _list_arguments(union, catalog)
    pairs: list[tuple[int, int] | None] = [None]
    pairs += product(values, values) if arguments else ()
    told = [witness]
    if union.derived:
        told = [w for m in (False, True) if (w := _derive(witness, union, catalog, m)) is not None]
    try:
        with counting_steps():
            for times, one in product(repeats, told):
                for pair in pairs:
                    made = _change(_repeat(one, catalog, times), arguments, pair)
                    if confirm_shown(answers, catalog, made):
                        return _map_rows(made, lambda row, _: _strip(row, catalog))
    except TooLongError:
        return None
    return None


def _limits_groups(union: SpjUnion, catalog: Catalog) -> bool:
    """Whether what is aggregated is made of columns that groups are told apart by, or of those of
    `list_tied`: then HAVING and expressions may show few of the groups,
    which a few copies do not say."""
    aggregation = union.aggregation
    assert aggregation is not None
    if any({a.argument, a.second} & {*aggregation.group} for a in aggregation.aggregates):
        return True
    for query in union.disjuncts:
        tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
        tied: set[tuple[str, str]] = set()
        for alias, table in tables.items():
            tied |= {(alias, n) for n in list_tied(table, catalog)}
        outputs = dict(query.outputs)
        for name in aggregation.group:
            for a in output_attributes(outputs[name]):
                tied |= {(a.alias, n) for n in _list_sources(tables[a.alias], a.column)}
        for name, output in query.outputs:
            if name in aggregation.group:
                continue
            for a in output_attributes(output):
                sources = _list_sources(tables[a.alias], a.column)
                if tied & {(a.alias, n) for n in sources}:
                    return True
    return False


def _list_sources(table: Stream | Relation, name: str) -> set[str]:
    """A column, and those that it is computed of."""
    column = table.column(name)
    computed = () if column is None or column.expression is None else fields_of(column.expression)
    return {name, *computed}


def _derive(witness: Witness, union: SpjUnion, catalog: Catalog, muted: bool) -> Witness | None:
    """The witness with what is computed of its rows; `muted`: which says something of those before
    the suffixes, and nothing of the suffixes', where no condition mentions it (None: it is not
    known what it is)."""
    assert union.aggregation is not None
    known: dict[str, set[str]] = {}
    for query in union.disjuncts:
        tables = {o.alias: o.table for o in query.occurrences}
        shown = [o for n, o in query.outputs if n in union.aggregation.group]
        for a in (
            *(a for c in query.conditions for a in condition_attributes(c)),
            *(a for o in shown for a in output_attributes(o)),
        ):
            known.setdefault(tables[a.alias], set()).add(a.column)

    def compute(row: WitnessRow, late: bool) -> WitnessRow:
        table, content = catalog.table(row.table), dict(row.values)
        if muted and late and row.step is not None:
            content |= choose_told(table, known.get(row.table, ()), content, muted=True)
        return replace(row, values=tuple(compute_derived(table, content).items()))

    try:
        return _map_rows(witness, compute)
    except NoRowError:
        return None


def _map_rows(witness: Witness, change: Callable[[WitnessRow, bool], WitnessRow]) -> Witness:
    """The witness with other rows; True is said of those of the suffixes."""
    return replace(
        witness,
        fixed=tuple(change(row, False) for row in witness.fixed),
        optional=tuple(change(row, False) for row in witness.optional),
        suffixes=tuple(tuple(change(row, True) for row in s) for s in witness.suffixes),
    )


def _strip(row: WitnessRow, catalog: Catalog) -> WitnessRow:
    return replace(row, values=without_derived(row.values, catalog.table(row.table)))


def _expressions(union: SpjUnion) -> list[Expression]:
    assert union.aggregation is not None
    having = union.aggregation.having
    return [*(e for _, e in union.aggregation.computed), *([] if having is None else [having])]


def _list_numbers(expression: Expression) -> Iterator[int]:
    match expression:
        case Value(value=value):
            if isinstance(value, int | float | Decimal) and isfinite(value):
                yield int(value)
        case Call(arguments=arguments):
            for one in arguments:
                yield from _list_numbers(one)
        case _:
            return


def _list_arguments(union: SpjUnion, catalog: Catalog) -> set[tuple[str, str]]:
    """Streams and their columns that are only aggregated: numbers that are compared with none of
    other rows."""
    assert union.aggregation is not None
    found: set[tuple[str, str]] = set()
    others: set[tuple[str, str]] = set()
    for query in union.disjuncts:
        tables = {o.alias: o.table for o in query.occurrences}
        for name, output in query.outputs:
            for a in output_attributes(output):
                alone = name not in union.aggregation.group and isinstance(output, LiteralOutput)
                (found if alone else others).add((tables[a.alias], a.column))
        for c in query.conditions:
            if len(attributes := condition_attributes(c)) > 1:
                others |= {(tables[a.alias], a.column) for a in attributes}
    return {
        (table, column)
        for table, column in found - others
        if isinstance(stream := catalog.table(table), Stream)
        and (declared := stream.column(column)) is not None
        and isinstance(declared.type, IntType | FloatType)
        and declared.expression is None
    }


def _repeat(witness: Witness, catalog: Catalog, times: int) -> Witness:
    """The witness whose suffixes come so often, one time after the other."""
    if times == 1:
        return witness
    suffixes = []
    for suffix in witness.suffixes:
        steps = [r.step for r in suffix if r.step is not None]
        spacing = 1
        for row in suffix:
            stream = catalog.streams[row.table]
            spacing = spacing * stream.spacing if spacing % stream.spacing else spacing
        span = max(steps) - min(steps)
        apart = (span // spacing + 1) * spacing
        suffixes.append(
            tuple(
                replace(row, step=(row.step or 0) + n * apart)
                for n in range(times)
                for row in suffix
            )
        )
    return replace(witness, suffixes=tuple(suffixes))


def _change(
    witness: Witness, arguments: set[tuple[str, str]], pair: tuple[int, int] | None
) -> Witness:
    """The witness with one value in all aggregated columns of optional tuples, and another in those
    of other rows."""
    if pair is None:
        return witness

    def change(row: WitnessRow, value: int) -> WitnessRow:
        values = tuple((n, value if (row.table, n) in arguments else v) for n, v in row.values)
        return replace(row, values=values)

    return replace(
        witness,
        fixed=tuple(change(r, pair[1]) for r in witness.fixed),
        optional=tuple(change(r, pair[0]) for r in witness.optional),
        suffixes=tuple(tuple(change(r, pair[1]) for r in s) for s in witness.suffixes),
    )
