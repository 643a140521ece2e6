"""Joins of rows of windows with the latest, or the first, rows of keys, in SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.aggregates.chooses_rows import is_running
from ontoweir.rewriter.joined.part import Part, list_changing, list_part, list_static
from ontoweir.rewriter.joined.place_registers import Register, find_register, read_register
from ontoweir.rewriter.joined.read_present import read_present
from ontoweir.rewriter.joined.write_row import name_column, write_condition, write_row
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_of_statics, is_plain, list_outer
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "joins", "where", "distinct", "group", "having"}
_COMPARED = ("EQ", "NEQ", "LT", "LTE", "GT", "GTE")


@dataclass(frozen=True)
class JoinedSql:
    """`parts`, and what is shown, by name: the part's number and its column. `row`: what is
    computed of it, which rows of it there are, and how they are grouped (None: it is told)."""

    parts: list[Part]
    shown: list[tuple[str, int, str]]
    distinct: bool
    row: "exp.Select | None" = None

    @property
    def may_be_less(self) -> bool:
        """Whether it is first to be looked at as something else, of which less is kept, or more
        known: all parts are rows of windows, or groups of them, one is a static relation, or it is
        computed with what is joined."""
        windows = not any(part.is_chosen for part in self.parts)
        apart = any(part.streams or part.apart for part in self.parts)
        return windows or apart or self.row is not None


def read_joined(tree: "exp.Query", catalog: Catalog) -> JoinedSql | None:
    """A SELECT of a stream in a window, and subqueries of the latest or the first rows of keys, or
    of groups of windows, joined by equal columns and comparisons, with what is computed and grouped
    of them: of one such subquery at least, or with a LEFT JOIN (None: another query)."""
    from sqlglot import exp

    tree = open_with(tree)
    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - _READ:
        return None
    if tree.args.get("from_") is None:
        return None
    made, relations = _read(tree, catalog, apart=False), catalog.relations
    statics = [t for t in tree.find_all(exp.Table) if find_name(t.name, relations)]
    return made if made is not None or not statics else _read(tree, catalog, apart=True)


def _read(tree: "exp.Select", catalog: Catalog, *, apart: bool) -> JoinedSql | None:
    """The same; `apart`: static relations are parts, and not rows beside those of one part."""
    from sqlglot import exp

    joins = tree.args.get("joins") or ()
    distinct = tree.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return None
    parts: list[Part] = []
    registers: list[Register] = []
    merged: dict[str, str] = {}
    where = tree.args.get("where")
    said: list[tuple[exp.Expr, Part | Register | None]] = []
    said += [] if where is None else [(c, None) for c in _list_said(where.this)]
    for join, item in [(None, tree.args["from_"].this), *((j, j.this) for j in joins)]:
        found: Part | Register | None = None if apart else read_register(item, catalog)
        found = found or list_part(item, catalog) or list_changing(item, catalog)
        found = found or list_static(item, catalog)
        known = [*(p.alias.lower() for p in parts), *(r.alias.lower() for r in registers)]
        if found is None or found.alias.lower() in known or not is_plain(item):
            return None
        if isinstance(found, Register):
            registers.append(found)
        else:
            parts.append(found)
        if join is not None and not _is_read(join, found):
            return None
        on = None if join is None else join.args.get("on")
        said += [] if on is None else [(c, found) for c in _list_said(on)]
        for name in [] if join is None else [n.name for n in join.args.get("using") or ()]:
            sides = _find_using(name, [*parts, *registers], found)
            if sides is None or name.lower() in merged:
                return None
            merged[name.lower()] = sides.this.table.lower()
            said.append((sides, found))
    said = _list_present(said, parts, registers, catalog, apart=apart)
    if len(parts) == 1 and is_running(parts[0].item.this):
        parts[0].apart = True
    if not any(p.apart for p in parts) and len(parts) < 2:
        return None
    if all(p.streams for p in parts):
        return None
    if merged and any(e.is_star for e in tree.expressions):
        return None
    reader = _Reader(parts, registers, catalog, merged)
    ok = not registers or reader.place([c for c in said if reader.is_registered(c)])
    for condition, of in said if ok else ():
        number = next((n for n, p in enumerate(parts) if p is of), None)
        ok = ok and (reader.is_registered((condition, of)) or reader.put(condition, number))
    if not ok or not all(_is_whole(p) for p in parts):
        return None
    plain = not reader.rest and not aggregates(tree) and not any(p.apart for p in parts)
    shown = reader.list_shown(tree.expressions) if plain else None
    if shown is not None:
        return JoinedSql(parts, shown, distinct is not None)
    row = write_row(tree, reader.rest, parts, reader.find)
    if row is None:
        return None
    columns = [(name_column(p, c), n, c) for n, p in enumerate(parts) for c in p.wanted]
    columns = [one for one in columns if parts[one[1]].is_shown]
    return JoinedSql(parts, columns, distinct is not None, row)


def _find_using(
    name: str, items: "Sequence[Part | Register]", found: Part | Register
) -> "exp.EQ | None":
    """What USING says of a column of an item and of one before it (None: there is not one)."""
    from sqlglot import exp

    before = [i for i in items if i is not found and name.lower() in i.names]
    if len(before) != 1 or name.lower() not in found.names:
        return None
    one, other = (exp.column(name, i.alias, quoted=True) for i in (before[0], found))
    return exp.EQ(this=one, expression=other)


def _list_said(tree: "exp.Expr") -> "list[exp.Expr]":
    """The conditions that a condition is of, without `1 = 1` and TRUE."""
    return [one for one in split_conjuncts(tree) if not _is_true(one)]


def _is_true(one: "exp.Expr") -> bool:
    from sqlglot import exp

    if isinstance(one, exp.Boolean):
        return bool(one.this)
    sides = (one.this, one.expression) if isinstance(one, exp.EQ) else (None, None)
    number = isinstance(sides[0], exp.Literal) and not sides[0].is_string
    return number and sides[0] == sides[1]


def _list_present(
    said: "list[tuple[exp.Expr, Part | Register | None]]",
    parts: list[Part],
    registers: list[Register],
    catalog: Catalog,
    *,
    apart: bool,
) -> "list[tuple[exp.Expr, Part | Register | None]]":
    """What is said, where EXISTS, IN and their negations of rows that come and go, and `apart` of
    static relations, are parts."""
    made: list[tuple[exp.Expr, Part | Register | None]] = []
    shown = list(parts)
    for condition, of in said:
        taken = {p.alias.lower() for p in parts} | {r.alias.lower() for r in registers}
        read = partial(read_present, condition, taken, shown, catalog, static=apart)
        found = read() if of is None else None
        if found is None:
            made.append((condition, of))
            continue
        parts.append(found.part)
        made += [(c, found.part) for c in found.said]
    return made


def _is_read(join: "exp.Expr", part: Part | Register) -> bool:
    """Whether a join is an inner one, or LEFT."""
    side, kind = (str(join.args.get(k) or "").upper() for k in ("side", "kind"))
    more = {k for k, v in join.args.items() if v} - {"this", "on", "side", "kind", "using"}
    if isinstance(part, Part):
        part.kind = JoinKind.LEFT if side == "LEFT" else JoinKind.INNER
    else:
        part.left = side == "LEFT"
    return not more and side in ("", "LEFT") and kind in ("", "INNER", "OUTER", "CROSS")


def _is_whole(part: Part) -> bool:
    """Whether the rows of a part come and go by themselves."""

    return not part.is_table or bool(part.streams) or any(has_now(c) for c in part.said)


class _Reader:
    """Puts conditions where they belong."""

    def __init__(
        self,
        parts: list[Part],
        registers: list[Register],
        catalog: Catalog,
        merged: Mapping[str, str],
    ) -> None:
        self.parts, self.registers, self.catalog = parts, registers, catalog
        self.merged = merged
        self.rest: list[exp.Expr] = []

    def _register(self, column: "exp.Column") -> Register | None:
        return find_register(column, self.registers, [[*p.names] for p in self.parts])

    def is_registered(self, said: "tuple[exp.Expr, Part | Register | None]") -> bool:
        """Whether it reads a static relation, or is said of one."""
        from sqlglot import exp

        if said[0].find(exp.Query):
            return False
        columns = said[0].find_all(exp.Column)
        return isinstance(said[1], Register) or any(self._register(c) for c in columns)

    def place(self, said: "Sequence[tuple[exp.Expr, Part | Register | None]]") -> bool:
        """Whether each static relation is joined with the rows of one part, by these conditions;
        there it is then joined."""
        from sqlglot import exp

        beside: dict[str, set[int]] = {r.alias: set() for r in self.registers}
        placed: list[tuple[exp.Expr, Register | None]] = []
        for condition, of in said:
            columns = list(condition.find_all(exp.Column))
            read = [self._register(c) for c in columns]
            named = {r.alias: r for r in read if r is not None}
            others = [
                f for c, r in zip(columns, read, strict=True) if r is None for f in [self.find(c)]
            ]
            if condition.find(exp.Query) or len(named) != 1 or None in others:
                return False
            (register,) = named.values()
            if isinstance(of, Part) and of.kind is not JoinKind.INNER:
                return False
            if isinstance(of, Register) and of is not register:
                return False
            made = condition.copy()
            for column, found in zip(list(made.find_all(exp.Column)), read, strict=True):
                if found is None:
                    self._name(column)
                else:
                    column.set("table", exp.to_identifier(found.alias))
            around = of is None and register.left  # a condition of what has no partner, too
            placed.append((made, register) if around else (made, None))
            register.said += [] if around else [made]
            beside[register.alias] |= {f[0] for f in others if f is not None}
        for register in self.registers:
            if len(beside[register.alias]) != 1:
                return False
            part = self.parts[beside[register.alias].pop()]
            if part.kind is not JoinKind.INNER or part.apart:
                return False  # rows without a partner would have one
            part.registers.append(register)
            part.said += [c for c, r in placed if r is register]
        return True

    def _name(self, column: "exp.Column") -> None:
        """Say of which part a column is, in its words; in place."""
        from sqlglot import exp

        found = self.find(column)
        assert found is not None
        column.set("this", exp.to_identifier(found[1], quoted=True))
        column.set("table", exp.to_identifier(self.parts[found[0]].alias, quoted=True))

    def find(self, column: "exp.Expr") -> tuple[int, str] | None:
        """The part of a column, and what it is called there."""
        from sqlglot import exp

        if not isinstance(column, exp.Column) or column.is_star:
            return None
        of, name = column.table.lower(), column.name.lower()
        of = of or self.merged.get(name, "")  # of USING
        if (register := self._register(column)) is not None:
            places = [n for n, p in enumerate(self.parts) if register in p.registers]
            return (places[0], register.column(register.names[name])) if places else None
        found = [
            (n, p.names[name])
            for n, p in enumerate(self.parts)
            if of in ("", p.alias.lower()) and name in p.names and (of or p.is_shown)
        ]
        return found[0] if len(found) == 1 else None

    def want(self, column: "exp.Expr") -> tuple[int, str]:
        """Take note that a column is needed, which is one of a part's."""
        found = self.find(column)
        assert found is not None
        if found[1] not in self.parts[found[0]].wanted:
            self.parts[found[0]].wanted.append(found[1])
        return found

    def put(self, condition: "exp.Expr", join: int | None) -> bool:
        """Whether a condition is read: of one part, or a comparison of two columns; `join`: it is
        said of this one."""
        from sqlglot import exp

        condition = condition.unnest()
        if condition.find(exp.Query):
            return join is None and self._put_static(condition)
        columns = list(condition.find_all(exp.Column))
        places = {f[0] for c in columns if (f := self.find(c)) is not None}
        if any(self.find(c) is None for c in columns) or not places:
            return False
        if any(not self.parts[p].is_shown and p != join for p in places):
            return False
        if self._put_near(condition, join, places):
            return True
        inner = join is None or self.parts[join].kind is JoinKind.INNER
        if any(not self.parts[p].is_shown and (inner or p != join) for p in places):
            return False
        if inner:
            self.rest.append(condition)  # said of what is joined
        elif join is None or max(places) > join:
            return False
        else:
            self.parts[join].on.append(write_condition(condition, self.parts, self.want))
        return True

    def _put_near(self, condition: "exp.Expr", join: int | None, places: set[int]) -> bool:
        """Whether a condition is said of one part, or is a comparison of two columns."""
        from sqlglot import exp

        last = max(places)
        if len(places) == 1:
            if self.parts[last].apart and self.parts[last].kind is JoinKind.INNER:
                return False
            if join is None and self.parts[last].kind is not JoinKind.INNER:
                return False
            others = join is not None and join != last
            if others and self.parts[join or 0].kind is not JoinKind.INNER:
                return False
            made = condition.copy()
            for column in made.find_all(exp.Column):
                self._name(column)
            self.parts[last].said.append(made)
            return True
        plain = type(condition).__name__ in _COMPARED
        sides = (condition.this, condition.expression) if plain else ()
        if not sides or not all(isinstance(s.unnest(), exp.Column) for s in sides):
            return False
        place = last if join is None else join
        if last > place or (
            join is None and any(self.parts[p].kind is not JoinKind.INNER for p in places)
        ):
            return False
        one, other = (self.want(s.unnest()) for s in sides)
        self.parts[place].compared.append((one, type(condition).__name__, other))
        return True

    def _put_static(self, condition: "exp.Expr") -> bool:
        """Whether a condition is of what is, or is not, in static relations beside one part."""
        if not is_of_statics(condition, self.catalog):
            return False
        made = condition.copy()
        outer = list_outer(made, self.catalog)
        found = [self.find(c) for c in outer]
        places = {f[0] for f in found if f is not None}
        if None in found or len(places) != 1 or any(self._register(c) for c in outer):
            return False
        (place,) = places
        if self.parts[place].kind is not JoinKind.INNER or self.parts[place].apart:
            return False
        for column in outer:
            self._name(column)
        self.parts[place].said.append(made)
        return True

    def list_shown(self, items: "list[exp.Expr]") -> list[tuple[str, int, str]] | None:
        """The columns that are shown (None: others are)."""
        from sqlglot import exp

        shown: list[tuple[str, int, str]] = []
        for item in items:
            column = item.unalias()
            if item.is_star and self.registers:
                return None
            if item.is_star:
                of = item.table.lower() if isinstance(item, exp.Column) else ""
                for n, part in enumerate(self.parts):
                    if of in ("", part.alias.lower()) and part.is_shown:
                        shown += [(c, n, c) for c in part.names.values()]
                continue
            found = self.find(column)
            if found is None or not self.parts[found[0]].is_shown:
                return None
            shown.append((item.alias_or_name, *found))
        for _, n, name in shown:
            if name not in self.parts[n].wanted:
                self.parts[n].wanted.append(name)
        names = [name.lower() for name, *_ in shown]
        return shown if len(set(names)) == len(names) else None
