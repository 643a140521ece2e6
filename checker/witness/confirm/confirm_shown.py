"""Confirm a witness against groups whose rows are shown as HAVING and expressions make them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import aggregate_naively, count_matches
from ontoweir.checker.witness.is_legal import is_legal
from ontoweir.checker.witness.keyed.compute import as_type
from ontoweir.checker.witness.witness import Witness, WitnessRow, instance_of
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Expression, fields_of, has_user_calls
from ontoweir.rewriter.model.spj import SpjUnion

_Row: TypeAlias = dict[str, Any]
_Group: TypeAlias = tuple[Any, ...]
_Case: TypeAlias = tuple[_Row, ...]


def can_show(union: SpjUnion) -> bool:
    """Whether a query is one that witnesses can be confirmed against here: of groups whose rows
    are updates, with all that they are grouped by, of which HAVING and expressions read aggregates
    alone; then what is shown of one group says what is shown of each."""
    aggregation = union.aggregation
    if aggregation is None or aggregation.shows_rows or aggregation.panes is not None:
        return False
    if union.ends or union.begins or union.blocks or union.statics or union.standing:
        return False
    made = [e for _, e in aggregation.computed]
    made += [] if aggregation.having is None else [aggregation.having]
    if any(has_user_calls(e) for e in made) or aggregation.read & set(aggregation.group):
        return False
    return bool(aggregation.group) and set(aggregation.group) <= set(aggregation.columns)


def confirm_shown(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether the rows that are shown of groups after the suffixes prove that all subsets of the
    optional tuples must be told apart.

    Of a group to which no other optional tuple adds a match, suffix i brings another row where
    tuple i is there than where it is not (or a row in one case only). The aggregates of these
    groups are the same for every i, and nothing else is read of a row: so it is of no matter how
    many tuples there are, nor which values tell the groups apart.

    Args:
        union: the query, of which `can_show` holds, with declared lags applied.
        catalog: with its views.
        witness: whose suffixes are later than all else, and come at one time, or change a group's
            row for good.

    Raises:
        TooLongError: there are too many matches to look at.
    """
    if not is_legal(witness, catalog):
        return False
    cases: set[frozenset[_Case]] = set()
    for i, suffix in enumerate(witness.suffixes):
        mine = [witness.optional[i]]
        rest = [o for n, o in enumerate(witness.optional) if n != i]
        found = set()
        for group, case in _list_changed(union, catalog, witness, mine, suffix):
            if _is_alone(union, catalog, [*witness.fixed, *suffix], mine, rest, group):
                found.add(case)
        if not found:
            return False
        cases.add(frozenset(found))
    return bool(frozenset.intersection(*cases))


def _list_changed(
    union: SpjUnion,
    catalog: Catalog,
    witness: Witness,
    mine: list[WitnessRow],
    suffix: tuple[WitnessRow, ...],
) -> list[tuple[_Group, Any]]:
    """The groups of which the suffix tells whether a tuple is there, and what is shown of each
    before and after it, without and with that tuple."""
    fixed = list(witness.fixed)
    worlds = []
    for optional in ([], mine):
        for more in ((), suffix):
            instance = instance_of(catalog, [*fixed, *optional, *more])
            worlds.append(_show(union, aggregate_naively(union, instance)))
    single = len({r.step for r in suffix}) == 1
    changed = []
    for group in {g for world in worlds for g in world}:
        before, after, early, late = (world.get(group) for world in worlds)
        told = after if after != before else None, late if late != early else None
        # of a suffix of several times, what was told last is compared too
        if told[0] != told[1] and (single or after != late):
            changed.append((group, (before, after, early, late)))
    return changed


def _is_alone(
    union: SpjUnion,
    catalog: Catalog,
    rows: list[WitnessRow],
    mine: list[WitnessRow],
    rest: list[WitnessRow],
    group: _Group,
) -> bool:
    """Whether no other optional tuple adds a match to a group."""
    plain = replace(union, distinct=False, aggregation=None)
    assert union.aggregation is not None
    place = [union.variables.index(v) for v in union.aggregation.group]

    def count(optional: list[WitnessRow]) -> int:
        matches = count_matches(plain, instance_of(catalog, [*rows, *optional]), lambda _: 0)
        return sum(n for (row, _), n in matches.items() if tuple(row[p] for p in place) == group)

    return count([]) == count(rest) and count(mine) == count([*mine, *rest])


def _show(
    union: SpjUnion, groups: Mapping[_Group, tuple[Any, ...]]
) -> dict[_Group, tuple[Any, ...]]:
    """What is shown of each group beside what it is grouped by; those that HAVING hides are not."""
    aggregation = union.aggregation
    assert aggregation is not None
    names = [a.name for a in aggregation.aggregates]
    computed = dict(aggregation.computed)
    shown = {}
    for group, values in groups.items():
        row = dict(zip(names, values, strict=True))
        try:
            if aggregation.having is not None and _compute(aggregation.having, row) is not True:
                continue
            content = tuple(
                _compute(computed[c], row) if c in computed else row[c]
                for c in aggregation.columns
                if c in computed or c in row
            )
        except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
            continue
        shown[group] = content
    return shown


def _compute(expression: Expression, row: _Row) -> Any:
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array

    columns = {
        name: to_array([as_type(row[name], field.type)], field.type)
        for name, field in fields_of(expression).items()
    }
    return evaluate(expression, columns, 1).to_pylist()[0]
