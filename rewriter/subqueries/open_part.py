"""The rows beside which something is there, as SELECTs without subqueries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.absence_trees import LEFT, RIGHT, Opening, PartTrees
from ontoweir.rewriter.joins.find_absence import Part, PartKind, absence_of, split_conjuncts
from ontoweir.rewriter.subqueries.column_names import (
    ColumnNames,
    columns_of,
    free_name,
    substitute,
    substitute_around,
)
from ontoweir.rewriter.subqueries.join_inner import list_items

if TYPE_CHECKING:
    from sqlglot import exp


def open_part(
    part: Part,
    flats: "Sequence[exp.Select]",
    needed: ColumnNames,
    keys: tuple[tuple[str, ...], tuple[str, ...]],
    nulls: ColumnNames,
    missing: Sequence[str],
    work: Opening,
) -> PartTrees:
    """The SELECTs of the keys of rows beside which a part is there."""
    from sqlglot import exp

    made: list[exp.Select] = []
    places = {name: n for n, name in enumerate(needed.columns)}
    for flat in flats:
        shown = [item.unalias() for item in flat.expressions]
        meaning = {needed.text(n): shown[places[n]] for n in needed.columns}
        for number, rows in enumerate(part.rows):
            rows = rows.copy()
            substitute_around(rows, meaning)
            base = flat.copy()
            kept = [e for e in base.expressions if e.alias in keys[0] or e.alias in keys[1]]
            names = [*keys[0], *keys[1]]
            kept.sort(key=lambda e: names.index(e.alias))
            base.set("expressions", kept)
            joined, renamed = join_rows(base, (rows,), work)
            extra = []
            if part.compared is not None:
                left, right = (exp.Paren(this=side.copy()) for side in part.compared[number])
                own = {i.alias_or_name.lower() for i in list_items(rows)}
                substitute(left, meaning)
                substitute(right, {t: m for t, m in meaning.items() if t.split(".")[0] not in own})
                for column in list(columns_of(right)):
                    column.replace(_renamed(column, renamed))
                extra += [
                    exp.alias_(left.this, LEFT, quoted=True),
                    exp.alias_(right.this, RIGHT, quoted=True),
                ]
            if missing:
                extra += [
                    exp.alias_(_renamed(c, renamed), n, quoted=True)
                    for n, c in nulls.columns.items()
                    if c.table.lower() in renamed
                ]
            joined.set("expressions", [*joined.expressions, *extra])
            _refuse_captured(joined)
            nested = work.flatten(joined, True)
            if absence_of(joined):
                _require_times(nested, keys[1], work, line_of(rows) or line_of(flat))
            made += nested
    present = part.kind is PartKind.PRESENT
    return PartTrees(tuple(made), part.compared is not None, present)


def _refuse_captured(select: "exp.Select") -> None:
    """Raise SqlRefusal where SELECTs in the conditions call a table as one around is called."""
    from sqlglot import exp

    around = {i.alias_or_name.lower() for i in list_items(select)}
    for inner in (s for s in select.find_all(exp.Select) if s is not select):
        again = around & {i.alias_or_name.lower() for i in list_items(inner)}
        where = inner.find_ancestor(exp.From, exp.Where, exp.Join)
        if again and isinstance(where, exp.Where):
            raise SqlRefusal(
                f"{min(again)} is two tables, of which one is inside of EXISTS or IN in the other",
                why="columns are taken from one to the other by the names of tables",
                fix=f"write another name, as in FROM t AS {min(again)}2",
                line=line_of(inner) or line_of(select),
            )


def _require_times(
    nested: "Sequence[exp.Select]", times: Sequence[str], work: Opening, line: int | None
) -> None:
    """Raise SqlRefusal where rows beside which something is there, or not, of which that is said in
    turn, are not known at the time of the row around: they are a stream, whose timestamp must be
    that of the row."""
    from sqlglot import exp

    for select in nested:
        tables = {i.alias_or_name: i.name for i in list_items(select)}
        for item in select.expressions:
            if item.alias not in times:
                continue
            column = item.unalias()
            name = tables.get(column.table, "") if isinstance(column, exp.Column) else ""
            stream = work.catalog().streams.get(name)
            if stream is None or column.name != stream.timestamp:
                raise SqlRefusal(
                    "EXISTS, IN or an outer join inside of EXISTS or IN",
                    why="it must be final at the time of the one row around both: it looks at "
                    "later rows, or at none, or there are several rows around it",
                    fix="let its rows be none after the row around, as in u.ts <= s.ts; or let it "
                    "be of the rows between alone, in FROM: NOT EXISTS (SELECT 1 FROM (SELECT … "
                    "FROM t WHERE NOT EXISTS (…)) AS t1 WHERE …)",
                    line=line,
                )


def join_rows(
    base: "exp.Select", rows: "Sequence[exp.Select]", work: Opening
) -> "tuple[exp.Select, dict[str, str]]":
    """A SELECT with the tables and conditions of another; and the new aliases of its tables."""
    from sqlglot import exp

    (one,) = rows
    one, base = one.copy(), base.copy()
    taken = {i.alias_or_name.lower() for i in list_items(base)}
    renamed: dict[str, str] = {}
    items = list_items(one)
    if not items:
        raise SqlRefusal(
            "a subquery of EXISTS without FROM",
            why="it has one row, whatever is beside it",
            fix="leave EXISTS out",
            line=line_of(one),
        )
    for item in items:
        own = item.alias_or_name
        alias = free_name(own, taken)
        taken.add(alias.lower())
        renamed[own.lower()] = alias
    for column in list(columns_of(one)):
        if column.table.lower() in renamed:
            column.replace(_renamed(column, renamed))
    for item in items:
        named = exp.to_identifier(renamed[item.alias_or_name.lower()], quoted=True)
        given = item.args.get("alias")
        columns = None if given is None else given.args.get("columns")
        item.set("alias", exp.TableAlias(this=named, columns=columns))
    more: list[exp.Expr] = list(one.args.get("joins") or ())
    joins: list[exp.Expr] = list(base.args.get("joins") or ())
    base.set("joins", [*joins, exp.Join(this=items[0]), *more])
    wheres = [w.this for w in (base.args.get("where"), one.args.get("where")) if w is not None]
    conjuncts = [c for where in wheres for c in split_conjuncts(where)]
    if conjuncts:
        base.set("where", exp.Where(this=exp.and_(*conjuncts)))
    return base, renamed


def _renamed(column: "exp.Column", renamed: "dict[str, str]") -> "exp.Column":
    from sqlglot import exp

    made = exp.column(column.name, renamed.get(column.table.lower(), column.table), quoted=True)
    if (line := line_of(column)) is not None:
        made.this.meta["line"] = line
    return made
