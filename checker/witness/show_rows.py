"""Witnesses against groups of which HAVING, or expressions, make what is shown."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ontoweir.checker.witness.confirm.confirm_shown import can_show, confirm_shown
from ontoweir.checker.witness.evaluate_naively import TooLongError, counting_steps
from ontoweir.checker.witness.query_to_refute import query_to_refute
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, FloatType, IntType, Stream
from ontoweir.mappings.model.expression import Call, Expression, Value
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import LiteralOutput, SpjUnion, output_attributes

_MOST = 300
"""A suffix is repeated so often at most, to bring a group to what HAVING asks for."""


def show_rows(union: SpjUnion, catalog: Catalog, witness: Witness) -> Witness | None:
    """A witness against a query, made of one against its groups without HAVING and expressions.

    Its suffixes come several times, one time after the other, and what is aggregated has values
    beside the constants of the query, the same for all copies. None: none is confirmed.
    """
    if not can_show(union) or union.derived or union.buckets or union.views:
        return None
    numbers = sorted({n for e in _expressions(union) for n in _list_numbers(e)})
    near = {d for n in numbers for d in (n - 1, n, n + 1)}
    repeats = sorted({1, 2} | {n for n in near if 0 < n <= _MOST})
    values = sorted({0, 10} | near)
    answers = query_to_refute(union, union, catalog, timed=True)
    arguments = _list_arguments(union, catalog)
    pairs: list[tuple[int, int] | None] = [None]
    pairs += product(values, values) if arguments else ()
    try:
        with counting_steps():
            for times in repeats:
                for pair in pairs:
                    made = _change(_repeat(witness, catalog, times), arguments, pair)
                    if confirm_shown(answers, catalog, made):
                        return made
    except TooLongError:
        return None
    return None


def _expressions(union: SpjUnion) -> list[Expression]:
    assert union.aggregation is not None
    having = union.aggregation.having
    return [*(e for _, e in union.aggregation.computed), *([] if having is None else [having])]


def _list_numbers(expression: Expression) -> Iterator[int]:
    match expression:
        case Value(value=value):
            if isinstance(value, int) and not isinstance(value, bool):
                yield value
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
