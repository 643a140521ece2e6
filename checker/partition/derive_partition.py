"""By which key a plan is partitionable: theory §16.

A plan is a query over its streams, and answers it whatever rows these have. So rows may be divided
wherever the answers of the parts are, together, those of the whole:

- every match lies in one part: the members of which rows are kept have a column each that the
  selection makes equal (one value class), and rows are divided by it. A member of which nothing is
  kept may be without: all parts see its rows, and each part meets them with its own;
- rows of one stream are divided in one way, for all members and all plans;
- what compares answers with each other (DISTINCT; the answers of several plans, where they are a
  set; groups) compares those of one part: a column of the answers, or of the groups, tells the
  value that rows are divided by;
- a key over a whole stream that a run watches has that column: rows that repeat it meet.

What is declared of rows of one timestamp (keys, `max_per_timestamp`) is held before rows are
divided, and what a plan rests on holds of fewer rows, too.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import assert_never

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.explain_undivided import explain_undivided
from ontoweir.checker.partition.find_places import Place, find_places, shared_variables
from ontoweir.checker.partition.partition import ByAnything, ByKey, NotDivided, Partition
from ontoweir.checker.partition.unite_ways import unite_ways
from ontoweir.checker.partition.way import Free, Role, Scene, Way, Whole
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion


def derive_partition(
    union: SpjUnion,
    catalog: Catalog,
    plans: Sequence[SynopsisPlan],
    watched: Iterable[tuple[str, tuple[str, ...]]] = (),
) -> Partition:
    """How the rows of a bounded query's streams can be divided, or why they cannot.

    Args:
        union: the query.
        catalog: the tables.
        plans: its plans, of all parts of an aggregate query.
        watched: keys over whole streams (stream, columns) that the verdict rests on.
    """
    if union.blocks:
        names = " and ".join(block.stream.name for block in union.blocks)
        return NotDivided(f"the answers of {names}, which it reads, are made in one")
    if union.joined is not None:
        return NotDivided("rows that come and go are joined where all come together")
    if union.standing is not None:
        return NotDivided("which answer of a key is the latest is found where all come together")
    if union.aggregation is not None and union.aggregation.around is not None:
        return NotDivided("groups are told of what comes together in others")
    if union.aggregation is not None and union.aggregation.numbered is not None:
        return NotDivided("which groups are the first is found where all come together")
    if not plans or not all(plan.form.members for plan in plans):
        return NotDivided("it reads no stream")
    if any(plan.form.open for plan in plans):
        return NotDivided("when a value that is joined by is closed is found over all rows")
    closed = [one.rule for plan in plans if (one := plan.form.query.closed) is not None]
    if any(rule.is_order for rule in closed):
        return NotDivided("a value is closed when greater ones have come")
    if any(rule.rows is not None for rule in closed):
        return NotDivided("a value is closed by the number of rows with other values")
    scene = Scene(union, extend_catalog(catalog, union))
    keys = tuple(watched)
    shared = shared_variables(union, plans)
    places: list[Place | None] = [None]
    if shared is not None:
        places = list(find_places(shared, plans, scene))
    found = (_find_best(plans, scene, place, keys) for place in places)
    ways = [way for way in found if way is not None]
    if ways:
        return _as_partition(max(ways, key=partial(_worth, plans=plans, catalog=scene.catalog)))
    return NotDivided(explain_undivided(scene, plans, shared, keys))


def _find_best(
    plans: Sequence[SynopsisPlan],
    scene: Scene,
    place: Place | None,
    keys: Sequence[tuple[str, tuple[str, ...]]],
) -> Way | None:
    """The best way of all plans: the best of each of those that share no stream, as what they are
    worth adds up, but for the least number of values, which is that of one of them."""
    apart = unite_ways(plans, scene, place)
    if apart is None:
        return None
    best: dict[str, Role] = {}
    for one in apart:
        whole = [way for way in one.ways if not _broken(way, keys)]
        if not whole:
            return None
        best.update(max(whole, key=partial(_worth, plans=one.plans, catalog=scene.catalog)))
    return best


def _as_partition(way: Way) -> Partition:
    columns = tuple((s, role) for s, role in sorted(way.items()) if isinstance(role, str))
    whole = tuple(s for s, role in sorted(way.items()) if isinstance(role, Whole))
    free = tuple(s for s, role in sorted(way.items()) if isinstance(role, Free))
    return ByKey(columns, whole, free) if columns or whole else ByAnything()


def _worth(way: Way, plans: Sequence[SynopsisPlan], catalog: Catalog) -> tuple[int, int, int, int]:
    """Ways that divide more streams are better; of these those by columns of keys or references,
    and then those by columns of more values."""
    divided = sum(not isinstance(role, Whole) for role in way.values())
    free = sum(isinstance(role, Free) for role in way.values())
    named = sum(
        any(role in columns for columns in (*s.keys, *(r.columns for r in s.references)))
        for s, role in ((catalog.streams[name], role) for name, role in way.items())
    )
    sizes = [
        1 << 62 if group.domain.size is None else group.domain.size
        for plan in plans
        for group in plan.form.classes
        for attribute, _ in group.attributes
        for member in plan.form.members
        if member.alias == attribute.alias and way.get(member.stream) == attribute.column
    ]
    return divided, free, named, min(sizes, default=1 << 62)


def _broken(way: Way, watched: Sequence[tuple[str, tuple[str, ...]]]) -> bool:
    """Whether rows that repeat a watched key need not be in one part."""
    return any(not _keeps(way[s], key) for s, key in watched if s in way)


def _keeps(role: Role, key: Sequence[str]) -> bool:
    """Whether each part, or one, sees all rows with a value of a key."""
    match role:
        case str():
            return role in key
        case Whole():
            return True
        case Free():
            return False
        case _:
            assert_never(role)
