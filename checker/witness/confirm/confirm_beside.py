"""Confirm a witness against a query of the answers beside which rows are there, or are not.

Such a query is not monotone, but what is told of one answer is, in the optional tuples: where these
make none of the matches that show it, more of them only bring more rows beside these matches. Then
the least and the greatest set of other optional tuples decide for all (checker/citations.md, 8).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from ontoweir.checker.witness.confirm.read_answers import find_reader
from ontoweir.checker.witness.confirm.trace_matches import trace_matches
from ontoweir.checker.witness.evaluate_naively import Instance, evaluate_naively
from ontoweir.checker.witness.witness import Witness, WitnessRow, instance_of
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.model.spj import Absence, Block, Deadline, SpjQuery, SpjUnion

Answer: TypeAlias = tuple[Any, ...]

_EPOCH = datetime(1970, 1, 1)


def can_confirm(union: SpjUnion) -> bool:
    """Whether a query is one that witnesses can be confirmed against here: it shows the answers of
    one query beside which rows are there (or are not: all of its conditions say the same), with
    columns of theirs, and nothing is aggregated, limited by NOW() or computed before a run."""
    if len(union.blocks) != 1 or union.aggregation is not None or union.standing:
        return False
    block = union.blocks[0]
    if block.absence is None or len({p.present for p in block.absence.parts}) != 1:
        return False
    if any(q.blocks or q.ends or q.begins or q.statics for q in block.queries):
        return False
    if union.ends or union.begins or union.statics or block.union.aggregation is not None:
        return False
    return find_reader(union, block) is not None


def confirm_beside(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether the answers after the suffixes prove that all subsets of the optional tuples must be
    told apart: after suffix i some answer is told more often where tuple i is there than where it
    is not, or less often, whichever of the others are.

    Args:
        union: the query, of which `can_confirm` holds.
        catalog: with the buckets, views and derived columns of its parts.
        witness: legal, with suffixes later than all else.

    Raises:
        TooLongError: there are too many matches to look at.
        RepeatedError: what a row of a view is made of cannot be told.
    """
    block = union.blocks[0]
    assert block.absence is not None
    reader = find_reader(union, block)
    assert reader is not None
    work = _Work(union, block, block.absence, reader, catalog, witness)
    present = block.absence.parts[0].present
    everything = frozenset(range(witness.size))
    for i, suffix in enumerate(witness.suffixes):
        found = work.list_matches(i)
        if found is None:
            return False
        matches, doubtful = found
        alone = work.count_told(matches, [witness.optional[i]], suffix)
        rest = [witness.optional[n] for n in sorted(everything - {i})]
        others = work.count_told(matches, rest, suffix)
        more, fewer = (alone, others) if present else (others, alone)
        if union.distinct:
            more, fewer = Counter(dict.fromkeys(more, 1)), Counter(dict.fromkeys(fewer, 1))
        if not any(count > fewer[shown] and shown not in doubtful for shown, count in more.items()):
            return False
    return True


def tells_all(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether all matches of a witness are answers, and those that the suffixes do not bring have
    been told before them, whichever optional tuples are there: nothing is ever beside one that
    must not be there. Then the query is that of its matches (`open_answers`).

    Raises: as `confirm_beside`.
    """
    block = union.blocks[0]
    assert block.absence is not None
    reader = find_reader(union, block)
    assert reader is not None
    if any(part.present for part in block.absence.parts):
        return False
    work = _Work(union, block, block.absence, reader, catalog, witness)
    for suffix in witness.suffixes:
        instance = instance_of(catalog, [*witness.fixed, *witness.optional, *suffix])
        if any(work.list_hits(instance)):
            return False
        first_us = work.begin_us(suffix)
        base = replace(apply_lags(block.union, catalog), distinct=False)
        for answer, _, late in trace_matches(base, catalog, witness, suffix):
            if not late and not work.is_over(answer, first_us):
                return False
    return True


@dataclass(frozen=True, slots=True)
class _Work:
    """A query, its block and what is beside its answers, and a witness."""

    union: SpjUnion
    block: Block
    absence: Absence
    reader: SpjQuery
    catalog: Catalog
    witness: Witness

    def list_matches(self, number: int) -> tuple[Counter[Answer], AbstractSet[Answer]] | None:
        """The matches that a suffix makes without any optional tuple, counted; and what is shown
        by others too, of which it is not known what is told after the suffix. None: a key of a
        match has no value."""
        suffix = self.witness.suffixes[number]
        first_us = self.begin_us(suffix)
        base = replace(apply_lags(self.block.union, self.catalog), distinct=False)
        matches: Counter[Answer] = Counter()
        doubtful: set[Answer] = set()
        for (answer, used, late), count in trace_matches(
            base, self.catalog, self.witness, suffix
        ).items():
            if None in self._key(answer):
                return None
            if late and not used:
                matches[answer] += count
            elif late or self._is_set or not self.is_over(answer, first_us):
                doubtful |= self._show(answer).keys()
        if self.block.union.distinct:
            matches = Counter(dict.fromkeys(matches, 1))
        others = tuple(q for q in self.union.disjuncts if self.reader.occurrences != q.occurrences)
        if others:
            names = [n for n, _ in self.reader.outputs]
            plain = tuple(
                replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in names)) for q in others
            )
            more = replace(self.union, disjuncts=plain, blocks=(), distinct=False)
            traced = trace_matches(more, self.catalog, self.witness, suffix)
            doubtful |= {answer for answer, _, _ in traced}
        return matches, doubtful

    def count_told(
        self,
        matches: Mapping[Answer, int],
        optional: Sequence[WitnessRow],
        suffix: Sequence[WitnessRow],
    ) -> Counter[Answer]:
        """What is shown of matches, beside some optional tuples and a suffix."""
        hits = self.list_hits(instance_of(self.catalog, [*self.witness.fixed, *optional, *suffix]))
        told: Counter[Answer] = Counter()
        for answer, count in matches.items():
            key = self._key(answer)
            if all((key in h) == p.present for h, p in zip(hits, self.absence.parts, strict=True)):
                for shown, times in self._show(answer).items():
                    told[shown] += count * times
        return told

    def _key(self, answer: Answer) -> Answer:
        """What says which rows are beside an answer, in the order of the parts' variables."""
        place = {name: n for n, name in enumerate(self.block.union.variables)}
        return tuple(answer[place[n]] for n in self.absence.parts[0].hits.variables)

    def _show(self, answer: Answer) -> Counter[Answer]:
        """What the query shows of an answer of its block."""
        row = dict.fromkeys(c.name for c in self.block.stream.columns)
        row |= dict(zip(self.block.union.variables, answer, strict=True))
        alone = replace(self.union, disjuncts=(self.reader,), blocks=(), views=(), distinct=False)
        return evaluate_naively(alone, {self.block.stream.name: [row]})

    def list_hits(self, instance: Instance) -> list[Counter[Answer]]:
        """Of each part the keys beside which rows are there."""
        return [
            evaluate_naively(replace(apply_lags(part.hits, self.catalog), distinct=True), instance)
            for part in self.absence.parts
        ]

    def begin_us(self, suffix: Sequence[WitnessRow]) -> int:
        """When a suffix begins, in µs since 1970."""
        streams = self.catalog.streams
        return min(r.step * streams[r.table].step_us for r in suffix if r.step is not None)

    @property
    def _is_set(self) -> bool:
        """Whether an answer is shown once, so that it matters when it was first told."""
        return self.union.distinct or self.block.union.distinct

    def is_over(self, answer: Answer, first_us: int) -> bool:
        """Whether an answer that was complete before the suffix was told, or not, before it."""
        content = dict(zip(self.block.union.variables, answer, strict=True))
        deadlines = [d for part in self.absence.parts for d in part.deadlines]
        return all(_ends_before(d, content, first_us) for d in deadlines)


def _ends_before(deadline: Deadline, content: Mapping[str, Any], first_us: int) -> bool:
    """Whether a deadline lies before a time, as far as the times in an answer say it."""
    ends = [] if deadline.fixed_us is None else [deadline.fixed_us]
    for name, after_us in deadline.after:
        if (written := content.get(name)) is not None:
            time = (datetime.fromisoformat(written) - _EPOCH) // timedelta(microseconds=1)
            ends.append(time + after_us)
    return bool(ends) and min(ends) < first_us
