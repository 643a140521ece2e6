"""The equalities of a disjunct by values that a rule of their stream closes ([B] CA(k), OA(k);
punctuations): what is joined with a value by these alone is needed only while it is open."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ontoweir.checker.model.declarations import Declaration, closing_declaration
from ontoweir.checker.model.normal_form import Kind, NormalForm, OpenValues
from ontoweir.checker.sizes.count_open import count_open
from ontoweir.mappings.model.catalog import Catalog, ClosingRule, Stream
from ontoweir.rewriter.model.spj import Attribute


def find_open(form: NormalForm, catalog: Catalog, use: Callable[[Declaration], bool]) -> NormalForm:
    """The normal form with the equalities by closed values, of rules of one equality the one that
    leaves the fewest open (none may be: then it is the form itself).

    Of a set query with comparisons none is taken: how many best matches there are would depend on
    the values that members share (theory §7, C3).

    Args:
        form: a satisfiable disjunct.
        catalog: the streams.
        use: which declarations may be used.
    """
    compared = bool(form.inequalities or form.disequalities) or len(form.folds or ()) > 1
    if form.distinct and compared:
        return form
    names = dict.fromkeys(m.stream for m in form.members)
    found: list[OpenValues] = []
    for stream in (catalog.streams[name] for name in names):
        for rule in stream.closing:
            if not use(closing_declaration(stream.name, rule)):
                continue
            found += _list_equal(form, stream, rule)
    chosen: list[OpenValues] = []
    closed = form.query.closed
    for one in sorted(found, key=lambda o: (closed is None or o.rule != closed.rule, _cost(o))):
        if not any(set(one.values) & set(other.values) for other in chosen):
            chosen.append(one)
    return replace(form, open=tuple(chosen)) if chosen else form


def _cost(one: OpenValues) -> tuple[bool, float]:
    return one.rows is None, float("inf") if one.size is None else one.size


def _list_equal(form: NormalForm, stream: Stream, rule: ClosingRule) -> Iterator[OpenValues]:
    """The occurrences of a stream that agree on all columns of a rule, which nothing else has."""
    equal: dict[tuple[int, ...], set[int]] = {}
    for member in (m for m in form.members if m.stream == stream.name):
        columns = [Attribute(member.alias, name) for name in rule.columns]
        if all(a in form.class_of for a in columns):
            values = tuple(form.class_of[a] for a in columns)
            equal.setdefault(values, set()).add(member.index)
    count = count_open(stream, rule, 0)
    for values, members in equal.items():
        if len(members) < 2 or not all(_is_plain(form, v, rule, members) for v in values):
            continue
        rows = rule.most_rows if all(_is_one(form, i, stream) for i in members) else None
        if rows is None and all(form.classes[v].domain.finite for v in values):
            continue
        yield OpenValues(
            stream.name, rule, values, frozenset(members), count.size, count.formula, rows
        )


def _is_plain(form: NormalForm, value: int, rule: ClosingRule, members: set[int]) -> bool:
    """Whether a class has the columns' own values, of these members alone, and only their equality
    matters."""
    group = form.classes[value]
    if group.kind is Kind.FLOAT or group.optional or group.members != members:
        return False
    if form.distinct and group.projected:  # what is told again of a value is not told once
        return False
    aliases = {form.members[i].alias for i in members}
    shifts = (s for a, s in group.attributes if a.alias in aliases and a.column in rule.columns)
    compared = {v for q in form.inequalities for v in (q.x, q.y)}
    compared |= {v for d in form.disequalities for v in (d.x, d.y)}
    compared |= {fold.value for fold in form.folds or ()}
    return not any(shifts) and value not in compared


def _is_one(form: NormalForm, member: int, stream: Stream) -> bool:
    """Whether each row of a stream is one tuple of a member at most."""
    if not form.members[member].statics:
        return True
    rate = form.rates[member]
    return rate is not None and rate == stream.max_per_timestamp
