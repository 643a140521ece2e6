"""Write a condition of HAVING as patterns of SPARQL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.rsp.window import refuse
from ontoweir.rewriter.rsp.write_lines import LineWriter
from ontoweir.rewriter.starql.condition import (
    Both,
    Compared,
    Condition,
    Denied,
    Quantified,
    State,
    Tokens,
    bound,
    free,
    is_plain,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_Names = Mapping[str, str]
"""By index (`i`) or variable (`?x`), the variable that is written for it."""


@dataclass(slots=True)
class ConditionWriter:
    """Writes conditions. `locate`: the place of a token; `write_window`: the FILTER by which a time
    is in the window; `used`: names of variables that are taken; `times`: those written."""

    writer: LineWriter
    locate: Callable[[SparqlToken], Source]
    write_window: Callable[[str], str]
    used: set[str]
    times: list[str] = field(default_factory=list)

    def write(self, condition: Condition, known: frozenset[str], names: _Names) -> None:
        """A condition as patterns and FILTERs of the group that is open.

        Args:
            condition: what must hold.
            known: the variables, and indices, that have values in the group.
            names: how they are written.

        Raises:
            QueryError: it is not safe: it asks of a value that nothing bounds.
        """
        match condition:
            case State(index=index, triples=triples):
                self._write_state(index, triples, names)
            case Compared() | Both(any=True) | Denied() if is_plain(condition):
                self._check(condition, known)
                self.writer.add("FILTER(")
                self.write_formula(condition, names)
                self.writer.add(")")
            case Both(parts=parts, any=True):
                before, after = set(self.used), set(self.used)
                for number, part in enumerate(parts):  # each has names of its own, so the same
                    self.used = set(before)
                    self.writer.add("UNION {" if number else "{")
                    self.write(part, bound(part), names)
                    self.writer.add("}")
                    after |= self.used
                self.used = after
            case Both(parts=parts):
                inside = known | bound(condition)
                for part in parts:
                    self.write(part, inside, names)
            case Denied(part=part):
                self._check(part, known | bound(part))
                if missing := free(part) - known:
                    raise self._refuse(missing, condition.token)
                self.writer.add("FILTER NOT EXISTS {")
                self.write(part, known | bound(part), names)
                self.writer.add("}")
            case Quantified(all=False):
                self._write_some(condition, known, names)
            case Quantified():
                self._write_all(condition, known, names)
            case Compared():
                raise AssertionError(condition)
            case _:
                assert_never(condition)

    def _write_some(self, condition: Quantified, known: frozenset[str], names: _Names) -> None:
        inside, times = self._open(condition, names)
        has = bound(condition.body)
        self._check_indices(condition, has)
        own = {t.text.removeprefix("?") for t in (*condition.indices, *condition.variables)}
        self.write(condition.body, (known - own) | has, inside)
        self._close(times)

    def _write_all(self, condition: Quantified, known: frozenset[str], names: _Names) -> None:
        assert condition.given is not None
        inside, times = self._open(condition, names)
        has = bound(condition.given)
        self._check_indices(condition, has)
        if missing := (free(condition) - known) | (free(condition.body) - known - has):
            raise self._refuse(missing, condition.token)
        self.writer.add("FILTER NOT EXISTS {")
        self.write(condition.given, known | has, inside)
        if not is_plain(condition.body):
            self.writer.add("FILTER NOT EXISTS {")
            self.write(condition.body, known | has | bound(condition.body), inside)
            self.writer.add("}")
        elif condition.body != Both((), any=True):
            self._check(condition.body, known | has)
            self.writer.add("FILTER(!(")
            self.write_formula(condition.body, inside)
            self.writer.add("))")
        self._close(times)
        self.writer.add("}")

    def _open(self, condition: Quantified, names: _Names) -> tuple[_Names, list[str]]:
        """The names inside of a quantifier, and those of its indices."""
        made, times = dict(names), list[str]()
        for token in condition.variables:
            name = token.text[1:]
            made[f"?{name}"] = self._make(name) if name in self.used else name
            self.used.add(name)
        for token in condition.indices:
            made[token.text] = self._make(f"state_{token.text}")
            times.append(made[token.text])
        return made, times

    def _close(self, times: list[str]) -> None:
        for time in times:
            self.writer.add(self.write_window(time))
        self.times += times

    def _make(self, stem: str) -> str:
        name, number = stem, 1
        while name in self.used:
            number += 1
            name = f"{stem}_{number}"
        self.used.add(name)
        return name

    # ---- triples and comparisons ----

    def _write_state(self, index: SparqlToken, triples: Tokens, names: _Names) -> None:
        if index.text not in names:
            raise refuse(
                f"GRAPH {index.text}",
                "no EXISTS or FORALL around it has this index",
                f"write EXISTS {index.text} IN SEQ ( GRAPH {index.text} {{ … }} )",
                self.locate(index),
            )
        self.writer.add(f"GRAPH ?{names[index.text]}")
        for token in triples:
            self._put(token, names)

    def write_formula(self, condition: Condition, names: _Names) -> None:
        """A condition that is made of comparisons alone."""
        match condition:
            case Compared(tokens=tokens):
                self._write_comparison(tokens, names)
            case Both(parts=parts, any=some):
                for number, part in enumerate(parts):
                    if number:
                        self.writer.add("||" if some else "&&")
                    self.writer.add("(")
                    self.write_formula(part, names)
                    self.writer.add(")")
            case Denied(part=part):
                self.writer.add("!(")
                self.write_formula(part, names)
                self.writer.add(")")
            case State() | Quantified():
                raise AssertionError(condition)
            case _:
                assert_never(condition)

    def _write_comparison(self, tokens: Tokens, names: _Names) -> None:
        indices = [t for t in tokens if t.kind == "word" and t.text in names]
        if indices and (len(tokens) != 3 or len(indices) != 2):
            raise refuse(
                f"{' '.join(t.text for t in tokens)}: arithmetic with indices",
                "states are told apart by their times, and not numbered",
                "compare two indices: i < j",
                self.locate(indices[0]),
            )
        for token in tokens:
            self._put(token, names)

    def _put(self, token: SparqlToken, names: _Names) -> None:
        if token.kind == "word" and token.text in names:
            self.writer.add(f"?{names[token.text]}")
        elif token.kind == "var" and (name := names.get(f"?{token.text[1:]}", "")) not in (
            "",
            token.text[1:],
        ):
            self.writer.add(f"?{name}")
        else:
            self.writer.put(token)

    # ---- safety ----

    def _check(self, condition: Condition, known: frozenset[str]) -> None:
        """Raise QueryError for a comparison of what has no value."""
        match condition:
            case Compared(tokens=tokens):
                if missing := free(condition) - known - _functions(tokens):
                    raise self._refuse(missing, tokens[0])
            case Both(parts=parts):
                for part in parts:
                    self._check(part, known)
            case Denied(part=part):
                self._check(part, known)
            case State() | Quantified():
                pass  # they are checked where they are written

    def _check_indices(self, condition: Quantified, has: frozenset[str]) -> None:
        for token in condition.indices:
            if token.text not in has:
                raise refuse(
                    f"the index {token.text} without GRAPH {token.text}",
                    "it would be any state, and nothing is asked of it",
                    f"write GRAPH {token.text} {{ … }}"
                    + (" in IF" if condition.all else "")
                    + ", or leave it out",
                    self.locate(token),
                )

    def _refuse(self, missing: frozenset[str], token: SparqlToken) -> QueryError:
        shown = ", ".join(sorted(missing))
        return refuse(
            f"{shown} is not safe here",
            "no pattern of WHERE, and no GRAPH that must hold beside it, gives it a value",
            "write WHERE { … } with a pattern of it, or EXISTS with a GRAPH of it beside",
            self.locate(token),
        )


def _functions(tokens: Tokens) -> frozenset[str]:
    """Words that are functions, or truth values."""
    return frozenset(
        t.text
        for n, t in enumerate(tokens)
        if t.kind == "word"
        and (t.text in ("true", "false") or (n + 1 < len(tokens) and tokens[n + 1].text == "("))
    )
