"""The matches of a query among a few rows, and what is computed of these, naively."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import add_views_naively, evaluate_naively
from ontoweir.checker.witness.keyed.compute import UnknownAnswerError, complete_row, read_time
from ontoweir.checker.witness.keyed.find_keys import find_end, is_of_updates, is_plain
from ontoweir.checker.witness.keyed.group_naively import group_naively
from ontoweir.checker.witness.keyed.meet_naively import meet_naively
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
)
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    ConstantOutput,
    LiteralOutput,
    SpjQuery,
    SpjUnion,
)

GivenRows: TypeAlias = Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]
"""Of each table its rows, each with its time (µs since 1970; static ones: 0)."""

Match: TypeAlias = tuple[dict[str, Any], int, int]
"""The values of variables, when it is complete (µs since 1970), and how often it is there."""


def match_naively(
    union: SpjUnion,
    wide: Catalog,
    rows: GivenRows,
    now_us: int,
) -> list[Match]:
    """All matches until a time.

    Args:
        union: the query, of no parts that are joined.
        wide: the tables that it is written over, and those that it makes.
        rows: of the first, without what is computed of them.
        now_us: the time (µs since 1970).

    Raises:
        UnknownAnswerError: they are not computed here.
        TooLongError: there are too many to look at.
        RepeatedError: as evaluate_naively.
    """
    tables = _Tables(union, wide, rows, now_us)
    found: list[Match] = []
    for query in union.disjuncts:
        if query.folds is not None or query.closed is not None:
            raise UnknownAnswerError
        instance = {o.table: tables.rows(o.table) for o in query.occurrences}
        if not all(instance.values()):
            continue  # of few rows most tables of many have none
        timed = [o for o in query.occurrences if o.table in wide.streams]
        clocks = [Attribute(o.alias, wide.streams[o.table].timestamp) for o in timed]
        outputs = [(f"time of {clock.alias}", LiteralOutput(clock)) for clock in clocks]
        asked = replace(query, outputs=(*query.outputs, *outputs))
        plain = SpjUnion(union.name, tuple(n for n, _ in asked.outputs), (asked,), distinct=False)
        size = len(query.outputs)
        fixed = _list_constants(query)
        for answer, count in evaluate_naively(plain, instance).items():
            steps = zip(timed, answer[size:], strict=True)
            at = max((s * wide.streams[o.table].step_us for o, s in steps), default=0)
            values = dict(zip((n for n, _ in query.outputs), answer, strict=False))
            found.append((values | fixed, at, count))
    return found


def _list_constants(query: SpjQuery) -> dict[str, Any]:
    """The values of constants that have a type."""
    made: dict[str, Any] = {}
    for name, output in query.outputs:
        if isinstance(output, ConstantOutput):
            match output.kind:
                case IntType():
                    made[name] = int(output.value)
                case FloatType():
                    made[name] = float(output.value)
                case DecimalType():
                    made[name] = Decimal(output.value)
                case BooleanType():
                    made[name] = output.value == "true"
                case _:
                    pass
    return made


class _Tables:
    """The rows of the tables of a query until a time, with what is computed of them."""

    def __init__(
        self,
        union: SpjUnion,
        wide: Catalog,
        rows: GivenRows,
        now_us: int,
    ) -> None:
        self.wide, self.given, self.now_us = wide, rows, now_us
        self.views = {v.name: v for v in union.views}
        self.blocks = {b.stream.name: b for b in union.blocks}
        self.known: dict[str, list[dict[str, Any]]] = {}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table, times in its steps."""
        if name not in self.known:
            self.known[name] = self._make(name)
        return self.known[name]

    def _make(self, name: str) -> list[dict[str, Any]]:
        table = self.wide.table(name)
        if name in self.blocks:
            block = self.blocks[name]
            if block.meeting is not None:
                found = list(meet_naively(block.meeting, self.wide, self.rows))
            else:
                found = list(self._answer(block))
        elif name in self.views:
            view = self.views[name]
            instance = {n: self.rows(n) for n in view.tables}
            found = [dict(r) for r in add_views_naively((view,), instance, lambda _: 0)[0][name]]
        else:
            found = list(self._read(table))
        return [complete_row(table, row) for row in found]

    def _answer(self, block: Block) -> Iterator[dict[str, Any]]:
        """The answers of another query as rows of their time."""
        if not is_plain(block):
            raise UnknownAnswerError
        union, stream = block.union, block.stream
        found = match_naively(union, extend_catalog(self.wide, union), self.given, self.now_us)
        if union.aggregation is not None:
            make = self._update if is_of_updates(block) else self._group
            yield from make(block, union.aggregation, found)
            return
        first: dict[tuple[Any, ...], Match] = {}
        for match in found if union.distinct else ():
            key = tuple(match[0][n] for n in union.variables)
            if key not in first or match[1] < first[key][1]:
                first[key] = match[0], match[1], 1
        for row, at_us, count in first.values() if union.distinct else found:
            told_us = at_us if block.time is None else read_time(row[block.time[0]])
            if at_us % stream.step_us or told_us != at_us:
                raise UnknownAnswerError
            for _ in range(count):
                yield {**row, stream.timestamp: at_us // stream.step_us}

    def _group(
        self, block: Block, groups: Aggregation, found: Sequence[Match]
    ) -> Iterator[dict[str, Any]]:
        """The groups whose bucket of time has ended, as rows of its end."""
        names, counted = block.union.variables, Counter[tuple[Any, ...]]()
        for row, _, count in found:
            counted[tuple(row[n] for n in names)] += 1 if block.union.distinct else count
        if block.union.distinct:
            counted = Counter(dict.fromkeys(counted, 1))
        end = find_end(block)
        if end is None:
            raise UnknownAnswerError
        columns = tuple(dict.fromkeys((*groups.columns, end[0])))
        shown, made = group_naively(replace(groups, columns=columns), names, counted)
        if end[0] not in shown:
            raise UnknownAnswerError
        place, stream = shown.index(end[0]), block.stream
        for told, count in made.items():
            at_us = read_time(told[place]) + end[1]
            if at_us % stream.step_us:
                raise UnknownAnswerError
            for _ in range(count if at_us <= self.now_us else 0):
                content = dict(zip(shown, told, strict=True))
                yield {**content, stream.timestamp: at_us // stream.step_us}

    def _update(
        self, block: Block, groups: Aggregation, found: Sequence[Match]
    ) -> Iterator[dict[str, Any]]:
        """Each group as it is after each time with a row of it."""
        names, stream = block.union.variables, block.stream
        if groups.having is not None or groups.numbered is not None:
            raise UnknownAnswerError
        keyed: dict[tuple[Any, ...], list[Match]] = {}
        for match in found:
            keyed.setdefault(tuple(match[0][n] for n in groups.group), []).append(match)
        for mine in keyed.values():
            for at_us in sorted({match[1] for match in mine}):
                counted = Counter[tuple[Any, ...]]()
                for row, known_us, count in mine:
                    if known_us <= at_us:
                        counted[tuple(row[n] for n in names)] += count
                if block.union.distinct:
                    counted = Counter(dict.fromkeys(counted, 1))
                shown, made = group_naively(groups, names, counted)
                if at_us % stream.step_us or made.total() != 1:
                    raise UnknownAnswerError
                (told,) = made
                yield dict(zip(shown, told, strict=True)) | {
                    stream.timestamp: at_us // stream.step_us
                }

    def _read(self, table: Stream | Relation) -> Iterator[dict[str, Any]]:
        for at_us, content in self.given.get(table.name, ()):
            if isinstance(table, Relation):
                yield dict(content)
            elif at_us <= self.now_us:
                if at_us % table.step_us:
                    raise UnknownAnswerError
                yield {**content, table.timestamp: at_us // table.step_us}
