"""Which columns and variables carry the key of the rows that matches are made of."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    TemplateLiteralOutput,
    View,
    column_attributes,
    output_attributes,
)


class OtherKeysError(Exception):
    """It is not of each value by itself, or not known to be so."""


@dataclass(frozen=True, slots=True)
class KeyNames:
    """Columns, or variables: those that `have` the key in every row; and those that are made of it
    in some, of which nothing else may be asked."""

    have: AbstractSet[str]
    made: AbstractSet[str]

    def number(self, number: int) -> "KeyNames":
        """What they are called in a join of which they are a part."""
        have, made = ({f"{number} {n}" for n in names} for names in (self.have, self.made))
        return KeyNames(have, made)

    def show(self, shown: Iterable[str]) -> "KeyNames":
        """Some of them."""
        return KeyNames(self.have & {*shown}, self.made & {*shown})

    def is_made(self, names: Iterable[str]) -> bool:
        """Whether one of some names is among them."""
        return bool(self.made & {*names})


NO_KEYS = KeyNames(frozenset(), frozenset())
KeyTables: TypeAlias = Mapping[str, KeyNames]


def unite_keys(sets: Sequence[KeyNames]) -> KeyNames:
    """What has the key in each of some sets, and is made of it in one."""
    if not sets:
        return NO_KEYS
    have = frozenset(sets[0].have).intersection(*(s.have for s in sets))
    return KeyNames(have, frozenset().union(*(s.made for s in sets)))


def carry_query(query: SpjQuery, tables: KeyTables, streams: Mapping[str, Stream]) -> KeyNames:
    """The variables of a query that have the key, which all of its rows of streams share."""
    if query.folds is not None or query.closed is not None:
        raise OtherKeysError
    same, made = _find_class(query.occurrences, query.conditions, tables, streams)
    return KeyNames(
        {name for name, output in query.outputs if _has_key(output, same)},
        {name for name, output in query.outputs if made & {*_list_made_of(output)}},
    )


def _find_class(
    occurrences: Sequence[Occurrence],
    conditions: Sequence[Condition],
    tables: KeyTables,
    streams: Mapping[str, Stream],
) -> tuple[AbstractSet[Attribute], AbstractSet[Attribute]]:
    """The attributes that have the key: of each row of a stream, one at least, all of them equal,
    and in no other condition than that they have a value; and those that are made of it."""
    timed = [o for o in occurrences if o.table in streams]
    known = {o.alias: tables.get(o.table, NO_KEYS) for o in timed}
    every = {Attribute(o.alias, c) for o in timed for c in known[o.alias].have}
    made = {Attribute(o.alias, c) for o in timed for c in known[o.alias].made}
    if not timed:
        raise OtherKeysError
    for start in [a for a in every if a.alias == timed[0].alias]:
        same = {start}
        grown = True
        while grown:
            grown = False
            for c in conditions:
                if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Attribute):
                    sides = {c.left, c.right}
                    if not c.offset and sides & same and not sides <= same:
                        same |= sides
                        grown = True
        # several columns of one row have the key, too
        same |= {a for a in every if any(b.alias == a.alias and b in every for b in same)}
        alone = all(any(a.alias == o.alias and a in every for a in same) for o in timed)
        if alone and not any(_asks(c, same, same | made) for c in conditions):
            return same, same | made
    raise OtherKeysError


def _asks(condition: Condition, same: AbstractSet[Attribute], made: AbstractSet[Attribute]) -> bool:
    """Whether a condition asks something else of the key than to have a value, or that of others
    with it."""
    if isinstance(condition, NotNull | IsNull):
        return False
    read = set(condition_attributes(condition))
    if not read & made:
        return False
    plain = isinstance(condition, Compare) and condition.op is Op.EQ and not condition.offset
    return not (plain and read <= same)


def _list_made_of(output: Output) -> tuple[Attribute, ...]:
    """The attributes that an output is made of, or says NULL of."""
    return (output.value,) if isinstance(output, NullOutput) else output_attributes(output)


def _has_key(output: Output, same: AbstractSet[Attribute]) -> bool:
    """Whether an output is the key, or made of it alone."""
    match output:
        case LiteralOutput(value=value) | NullOutput(value=value):
            return value in same
        case IriOutput() | TemplateLiteralOutput():
            read = output_attributes(output)
            return len(read) == 1 and read[0] in same
        case _:
            return False


def carry_view(view: View, tables: KeyTables, streams: Mapping[str, Stream]) -> KeyNames:
    """The columns of a view that have the key, in all of its branches."""
    carried = []
    for branch in view.branches:
        same, made = _find_class(branch.occurrences, branch.conditions, tables, streams)
        columns = list(zip(branch.columns, (c.name for c in view.table.columns), strict=True))
        carried.append(
            KeyNames(
                {n for column, n in columns if isinstance(column, Attribute) and column in same},
                {n for column, n in columns if made & {*column_attributes(column)}},
            )
        )
    told = unite_keys(carried)
    if view.without or not told.have:
        raise OtherKeysError
    return told
