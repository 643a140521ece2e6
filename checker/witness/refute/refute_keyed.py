"""Witnesses against any query of which what is told of a key is made of its own rows alone.

For one key a few rows are drawn, so that one of them decides what later ones change; copies of them
with other keys are the counterexample, which is confirmed as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import lcm
from random import Random
from typing import Any

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.witness.evaluate_naively import TooLongError, counting_steps
from ontoweir.checker.witness.growth.grow_columns import grow_columns, name_value
from ontoweir.checker.witness.keyed.confirm_keyed import (
    Way,
    confirm_keyed,
    list_ways,
    tells_apart,
)
from ontoweir.checker.witness.keyed.far_us import (
    MOST_ROWS,
    far_us,
    list_days,
    list_parts,
    list_read,
)
from ontoweir.checker.witness.keyed.find_keys import Keys, read_tables
from ontoweir.checker.witness.keyed.find_width import find_width
from ontoweir.checker.witness.keyed.list_constants import constants_by_column, list_constants
from ontoweir.checker.witness.layout.make_rows import refer_statics
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Scalar,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.model.share_steps import share_steps
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError, phase

_TRIES = 80
"""So many drawings are looked at."""

_MOST_FIRST = 8
"""So many rows, at most, are the first of all: as many others are laid out before them."""

_FIRST = 50
"""The keys of these come after so many."""


def refute_keyed(
    union: SpjUnion, catalog: Catalog, known: Statistics, *, size: int = 4
) -> Witness | None:
    """A confirmed witness against a query, each of whose optional tuples has a key of its own
    (`find_keys`); None: none was found.

    Args:
        union: the query.
        catalog: the tables that it is written over.
        known: of the static data; where it is known how many rows these are, nothing is drawn.
        size: how many optional tuples it has.
    """
    gap = far_us(union, catalog := share_steps(catalog, union.step_us))
    if gap is None or any(name in known.rows for name in read_tables(union)):
        return None
    try:
        with counting_steps(), phase("looking for a counterexample", _TRIES) as done:
            choices = [w for w in list_ways(union, catalog) if w.first <= _MOST_FIRST]
            drawer = _Drawer(union, catalog, gap)
            for number in range(_TRIES if choices else 0):
                way = choices[number % len(choices)]
                drawn = drawer.draw(way, Random(number))
                done(number)
                if tells_apart(union, catalog, drawn.spread(1), way) and all(
                    confirm_keyed(union, catalog, drawn.spread(n)) for n in (size, 3 * size)
                ):
                    return drawn.spread(size)
    except (TooLongError, OutOfTimeError):
        pass
    return None


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The rows of one key: those before, in order, of which the last may be there or not, and those
    after, each with how long after the first one it is (µs). `statics`: for all keys; `alone`: of
    each stream, the columns of which no two rows have one value; `first`: rows of so many other
    keys, which are there before all."""

    catalog: Catalog
    keys: Keys
    gap_us: int
    statics: tuple[WitnessRow, ...]
    alone: Mapping[str, tuple[str, ...]]
    before: tuple[tuple[str, Mapping[str, Any]], ...]
    after: tuple[tuple[str, Mapping[str, Any]], ...]
    before_at: tuple[int, ...]
    after_at: tuple[int, ...]
    first: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    others: int = 0
    referred: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By relation, what rows have there that others refer to."""

    def spread(self, size: int) -> Witness:
        """The rows of so many keys: those of one after those of the other, and the suffixes after
        all."""
        start = max([0, *(s.start_us or 0 for s in self._streams)])
        gap = self.gap_us
        apart = gap * (len(self.before) + 1)
        start = (start // gap + 1) * gap
        fixed, optional, suffixes = list(self.statics), [], []
        for i in range(self.others):
            for table, content in self.first:
                fixed.append(self._row(table, start, content, i - self.others))
                start += gap
        for i in range(size):
            rows = [
                self._row(table, start + i * apart + at_us, content, i)
                for at_us, (table, content) in zip(self.before_at, self.before, strict=True)
            ]
            fixed += rows[:-1]
            optional.append(rows[-1])
        end = start + size * apart + gap
        for i in range(size):
            suffixes.append(
                tuple(
                    self._row(table, end + at_us, content, i)
                    for at_us, (table, content) in zip(self.after_at, self.after, strict=True)
                )
            )
        timed = [*fixed[len(self.statics) :], *optional, *(r for s in suffixes for r in s)]
        more = refer_statics(self.catalog, timed, self.statics, self._fill)
        return Witness(size, (*more, *fixed), tuple(optional), tuple(suffixes))

    def _fill(self, relation: str, names: Sequence[str]) -> Mapping[str, Any]:
        return {name: self.referred[relation][name] for name in names}

    @property
    def _streams(self) -> list[Stream]:
        return [self.catalog.streams[name] for name, _ in (*self.before, *self.after)]

    def _row(self, table: str, at_us: int, content: Mapping[str, Any], number: int) -> WitnessRow:
        """A row of a key by its number."""
        stream, column = self.catalog.streams[table], self.keys[table]
        place = number if number >= 0 else _FIRST - number
        if column.expression is None:
            text = "key" if number >= 0 else "first"
            key: dict[str, Any] = {column.name: name_value(column, place, text)}
        else:
            grown = grow_columns(stream, column.expression)
            key = {name: value(place) for name, value in grown.items()}
        step = at_us // stream.step_us
        told = {name: self._tell_apart(stream, name, step) for name in self.alone.get(table, ())}
        return WitnessRow(table, step, tuple({**content, **told, **key}.items()))

    @staticmethod
    def _tell_apart(stream: Stream, name: str, step: int) -> Scalar:
        """A value that no other row has."""
        column = stream.column(name)
        return f"row {step}" if column and isinstance(column.type, StringType) else step


class _Drawer:
    """Draws rows of one key."""

    def __init__(self, union: SpjUnion, catalog: Catalog, gap_us: int) -> None:
        self.catalog, self.gap_us, self.random = catalog, gap_us, Random(0)
        self.days = list_days(union, gap_us)
        self.tables = sorted(read_tables(union))
        self.constants = list(dict.fromkeys(list_constants(union)))
        self.beside = constants_by_column(union)
        self.near_us = lcm(*(s.grid_us for n, s in catalog.streams.items() if n in self.tables))
        self.often = 0.6 if any(map(find_width, list_parts(union))) else 0.0
        read = list_read(union)
        self.alone = {
            name: tuple(
                column.name
                for column in stream.columns
                if (column.name,) in stream.keys
                and column.name not in read
                and isinstance(column.type, IntType | StringType)
                and column.enum is None
                and column.maximum is None
            )
            for name, stream in catalog.streams.items()
            if name in self.tables
        }

    def draw(self, way: Way, random: Random) -> _Drawn:
        """Some rows before, one at least, some after, and static ones."""
        self.random = random
        names = [n for n in self.tables if n in self.catalog.streams]
        statics = [
            WitnessRow(name, None, tuple(self._content(table).items()))
            for name in self.tables
            if isinstance(table := self.catalog.relations.get(name), Relation)
            for _ in range(self.random.choice((0, 1, 1)))
        ]
        counts = [n for n in self.constants if isinstance(n, int) and 0 < n < MOST_ROWS // 2]
        near = [n + d for n in counts for d in (-1, 0, 1)]
        before = max(1, self.random.choice([1, 1, 2, 3, *near]))
        after = max(1, self.random.choice([1, 1, 1, 2, *(n for n in near if n < before + 2)]))
        after += self.often > 0  # a later row, with which buckets have ended
        others = self.random.choice((0.0, 0.2, 1.0, 1.0))
        drawn = _Drawn(
            self.catalog,
            way.keys,
            self.gap_us,
            tuple(statics),
            self.alone,
            tuple(self._rows(names, before, others)),
            tuple(self._rows(names, after, others)),
            tuple(self._times(before, before)),
            tuple(self._times(after, after - 1)),
            referred=self._refer(),
        )
        if way.mixed and self.random.random() < 0.7:  # others, beside which a row may say nothing
            beside = tuple(self._rows(names, before, others))
            first = self.random.choice((drawn.before, drawn.before * 2, beside))
            return replace(drawn, first=first, others=1)
        if not way.first:
            return drawn
        times = self.random.randint(1, 3)  # so that each is before others, and behind what comes
        first = drawn.before * (times + 1)
        later = drawn.before * (times + self.random.randint(0, 1))
        at = tuple(n * self.gap_us for n in range(len(later)))
        return replace(drawn, first=first, others=way.first, after=later, after_at=at)

    def _refer(self) -> dict[str, dict[str, Any]]:
        """What rows have of the relations that rows of the query's tables refer to."""
        found: dict[str, dict[str, Any]] = {}
        todo = [*self.tables]
        while todo:
            for reference in self.catalog.table(todo.pop()).references:
                if reference.relation not in found:
                    relation = self.catalog.relations[reference.relation]
                    found[relation.name] = self._content(relation)
                    todo.append(relation.name)
        return found

    def _times(self, count: int, near: int) -> Iterator[int]:
        """When some rows are, from the first one on: far from each other, or, where the query has
        buckets of time, sometimes in one, so many at most."""
        at_us = 0
        for number in range(count):
            yield at_us
            together = number + 1 < near and self.random.random() < self.often
            at_us += self.near_us if together else self.gap_us

    def _rows(
        self, names: Sequence[str], count: int, others: float
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Some rows; `others`: how likely the next one is another one."""
        name = self.random.choice(names)
        content = self._content(self.catalog.streams[name])
        for _ in range(count):
            yield name, content
            if self.random.random() < others:
                name = self.random.choice(names)
                content = self._content(self.catalog.streams[name])

    def _content(self, table: Stream | Relation) -> dict[str, Any]:
        return {
            c.name: self._value(c)
            for c in table.columns
            if c.expression is None and c.bucket is None
        }

    def _value(self, column: Column) -> Any:
        if column.nullable and self.random.random() < 0.15:
            return None
        beside = self.beside.get(column.name)
        near = beside if beside is not None and self.random.random() < 0.7 else self.constants
        values = [v for v in self._pool(column, near) if _is_within(v, column)]
        return self.random.choice(values) if values else column.minimum

    def _pool(self, column: Column, constants: Sequence[Scalar]) -> list[Any]:
        """Values beside constants of the query."""
        if column.enum is not None:
            return list(column.enum)
        numbers = [n for n in constants if not isinstance(n, str | bool)]
        limits = [v for v in (column.minimum, column.maximum) if v is not None]
        match column.type:
            case BooleanType():
                return [False, True]
            case IntType():
                near = [int(n) + d for n in numbers for d in (-1, 0, 1)]
                return [0, 1, 2, 3, *near, *limits]
            case FloatType():
                return [0.0, 1.0, *(float(n) + d for n in numbers for d in (-1, 0, 1)), *limits]
            case DecimalType(scale=scale):
                near_exact = [
                    round(Decimal(str(n)), scale) + d for n in numbers for d in (-1, 0, 1)
                ]
                return [Decimal(0), Decimal(1), *near_exact, *limits]
            case DateType():
                return [*self.days, *limits]
            case TimestampType():
                return [*(f"{day} 00:00:00.000000" for day in self.days), *limits]
            case StringType():
                texts = [t for t in constants if isinstance(t, str)]
                return [*"abcdef", *texts, *(t.strip("%") for t in texts), *limits]


def _is_within(value: Any, column: Column) -> bool:
    low, high = column.minimum, column.maximum
    return (low is None or not value < low) and (high is None or not value > high)
