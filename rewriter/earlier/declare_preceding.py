"""The stream of rows that have met those before them."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Column, Stream, TimestampType
from ontoweir.mappings.model.expression import Field
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.preceding import Counted, Preceding
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.spj import Block, Occurrence, SpjQuery, SpjUnion


def declare_preceding(preceding: Preceding, catalog: Catalog) -> tuple[Stream, Catalog]:
    """The stream, and the catalog with it: what is declared of the rows holds of them there, too;
    but where they are given later, their time is a column, and what is said of the time of their
    stream does not hold."""
    base = catalog.streams[preceding.base]
    named = [name for name, known in catalog.preceding.items() if known == preceding]
    if named:
        return catalog.streams[named[0]], catalog
    of = [*(make_column(b).name for b in preceding.within), *(["run"] if preceding.run else [])]
    by = ", ".join([*preceding.key, *of]) or "all"
    first = base.name
    while first in catalog.preceding:
        first = catalog.preceding[first].base
    name, n = f"{first} with rows before, by {by}", 2
    taken = {t.lower() for t in (*catalog.streams, *catalog.relations)}
    while name.lower() in taken:
        name, n = f"{first} with rows before, by {by}, {n}", n + 1
    plain = tuple(c for c in base.columns if c.bucket is None and c.expression is None)
    made = [_declare(c, plain, preceding) for c in preceding.columns]
    stream = replace(
        base,
        name=name,
        data=ANSWERS,
        columns=(*plain, *made),
        written=None,
        lateness_us=0,
        idle_us=None,
    )
    if preceding.after:
        stamp = _free(f"{base.timestamp} of a row after", base)
        stream = replace(
            stream,
            timestamp=stamp,
            columns=(*plain, Column(base.timestamp, TimestampType()), *made),
            keys=() if preceding.ties else ((*preceding.key, stamp),),
            lags=(),
            closing=(),
        )
    return stream, replace(
        catalog,
        streams={**catalog.streams, name: stream},
        preceding={**catalog.preceding, name: preceding},
    )


def list_preceding(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """A query with the streams of such rows that it reads, as its blocks, behind what they read."""
    made = {b.stream.name for b in union.blocks}
    wanted = [o.table for q in union.disjuncts for o in q.occurrences]
    wanted += [name for view in union.views for name in view.tables]
    wanted += [b.meeting.base for b in union.blocks if b.meeting is not None]
    found: list[Block] = []
    while wanted:
        name = wanted.pop()
        preceding = catalog.preceding.get(name)
        if preceding is None or name in made:
            continue
        made.add(name)
        wanted.append(preceding.base)
        rows = SpjQuery((Occurrence(preceding.base, preceding.base),), (), ())
        read = SpjUnion(name, (), (rows,), False, union.source)
        found.insert(0, Block(catalog.streams[name], read, meeting=preceding))
    if not found:
        return union
    return replace(union, blocks=_order((*union.blocks, *found)))


def _order(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Each block behind those that it reads."""
    left, names = list(blocks), {b.stream.name for b in blocks}
    done: dict[str, Block] = {}
    while left:
        for block in left:
            read = set() if block.meeting is None else {block.meeting.base}
            if read & names <= done.keys():
                done[block.stream.name] = block
                left.remove(block)
                break
    return tuple(done.values())


def _free(name: str, base: Stream) -> str:
    taken = {c.name for c in base.columns}
    while name in taken:
        name += "'"
    return name


def _declare(counted: Counted, columns: Sequence[Column], preceding: Preceding) -> Column:
    """The column, with the domain that follows."""
    column = Column(counted.name, counted.type, nullable=counted.function != "count")
    argument = counted.argument
    if counted.order and counted.function != "first":
        shares = counted.function in ("percent", "share")
        most = counted.parts or None
        return replace(column, minimum=0 if shares else 1, maximum=most, nullable=False)
    if counted.function == "count":
        rows = None if counted.peers or counted.first is None else counted.first
        most = None if rows is None else rows - counted.last + 1
        return replace(column, minimum=0, maximum=most)
    if isinstance(argument, Field) and counted.function in ("first", "known", "min", "max"):
        of = next((c for c in columns if c.name == argument.column), None)
        if of is not None:
            return replace(column, minimum=of.minimum, maximum=of.maximum, enum=of.enum)
    return column


def name_column(counted: Counted) -> str:
    """What a column is called, by what it shows."""
    if counted.order:
        keys = (write_expression(k.by) + (" DESC" if k.down else "") for k in counted.order)
        order, of = ", ".join(keys), ""
        if counted.argument is not None:
            of = f" of {write_expression(counted.argument)}"
        parts = f" of {counted.parts}" if counted.parts else ""
        return f"{counted.function}{parts}{of} by {order} among the rows of its time"
    what = "rows" if counted.argument is None else write_expression(counted.argument)
    if counted.span_us is not None:
        where = f", of the last {show_duration(counted.span_us)}"
        if counted.until_us > 1:
            where += f" until {show_duration(counted.until_us)} before"
        elif counted.until_us:
            where += " before"
    elif counted.first == counted.last:
        rows = abs(counted.last)
        side = "before" if counted.last > 0 else "after"
        where = "" if not rows else f", {rows} row{'s' if rows > 1 else ''} {side}"
    else:
        first = "the first" if counted.first is None else _say(counted.first)
        last = "those before its time" if counted.until_us else _say(counted.last)
        where = f", from {first} to {last}"
    one = counted.function == "first" and counted.first is not None
    call = "" if one and counted.first == counted.last else counted.function
    return f"{call} of {what}{where}" if call else f"{what}{where}"


def _say(rows: int) -> str:
    if not rows:
        return "the row"
    return f"{abs(rows)} {'before' if rows > 0 else 'after'}"
