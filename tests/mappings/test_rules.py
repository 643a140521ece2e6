"""Rules of the catalog on rows that agree on columns."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import Breach, Lag
from tests.runtime.harness import make_catalog


def _toml(rules: str) -> str:
    return (
        '[streams.S]\nsource = { format = "csv", path = "s.csv" }\n'
        'timestamp = { column = "ts", unit = "1 minute" }\n'
        f'{rules}\n[streams.S.columns]\nk = "int"\na = "string"\n'
    )


def test_rows_that_come_together_lag_behind_themselves(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, _toml('clustered = [{ columns = ["k"], within = "1 hour" }]'))
    (lag,) = catalog.streams["S"].lags
    assert lag == Lag("S", ("k",), ("k",), 3_600_000_000, lag.source)
    assert lag.source is not None
    assert lag.source.line == 4


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{ columns = ["b"], within = "1 hour" }', "unknown column 'b' of 'S' in columns"),
        ('{ columns = [], within = "1 hour" }', "clustered names no columns"),
        ('{ columns = ["k"], within = "90 seconds" }', "not a whole number of the stream's steps"),
        ('{ columns = ["k"], gap = "90 seconds" }', "not a whole number of the stream's steps"),
        ('{ columns = ["k"], gap = 3600 }', "must be a string"),
        ('{ columns = ["k"], rows = -1 }', "a whole number, 0 or more"),
        ('{ columns = ["k"], rows = "1 hour" }', "a whole number, 0 or more"),
        ('{ columns = ["ts"], gap = "1 hour" }', "unknown column 'ts' of 'S' in columns"),
        ('{ columns = ["k"], gap = "1 hour", rows = 5 }', "clustered on k has gap and rows"),
        ('{ columns = ["k"] }', "clustered on k has no limit"),
        ('"k"', "a list of tables"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f"clustered = [{rule}]"))
    assert error.value.source is not None
    assert error.value.source.line in (1, 4)


@pytest.mark.parametrize("key", ["lags", "clustered", "ordered", "closed_by"])
def test_a_list_of_no_rules_is_refused(key: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=f"{key} lists no rule") as error:
        make_catalog(tmp_path, _toml(f"{key} = []"))
    assert error.value.source is not None
    assert error.value.source.line == 4


def test_rules_that_close_values(tmp_path: Path) -> None:
    catalog = make_catalog(
        tmp_path,
        _toml(
            'clustered = [{ columns = ["k"], gap = "1 hour" }, '
            '{ columns = ["k", "a"], rows = 5 }]\n'
            'closed_by = { columns = ["k"], column = "done", max_open = 9 }'
        )
        + 'done = "boolean"\n',
    )
    gap, rows, ends = catalog.streams["S"].closing
    assert catalog.streams["S"].lags == ()
    assert (gap.columns, gap.gap_us, gap.rows, gap.ends) == (("k",), 3_600_000_000, None, None)
    assert (rows.columns, rows.rows) == (("k", "a"), 5)
    assert (ends.columns, ends.ends, ends.most_open) == (("k",), "done", 9)
    assert gap.source is not None
    assert ends.source is not None
    assert (gap.source.line, ends.source.line) == (4, 5)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{ columns = ["k"], column = "end", max_open = 9 }', "unknown column 'end' of 'S'"),
        ('{ columns = ["b"], column = "done", max_open = 9 }', "unknown column 'b' of 'S'"),
        ('{ columns = ["k"], column = "a", max_open = 9 }', "'a' is string"),
        ('{ columns = ["done"], column = "done", max_open = 9 }', "'done' closes itself"),
        ('{ columns = [], column = "done", max_open = 9 }', "closed_by names no columns"),
        ('{ columns = ["k"], column = "done" }', "has no max_open"),
        ('{ columns = ["k"], column = "done", max_open = 0 }', "a whole number, 1 or more"),
        ('{ columns = ["k"], gap = "1 hour" }', "unknown key 'gap'"),
        ('"done"', "a list of tables"),
        (
            '{ columns = ["k"], column = "done", max_open = 9, max_rows_per_value = 0 }',
            "a whole number, 1 or more",
        ),
    ],
)
def test_what_is_wrong_of_an_end_is_refused(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f"closed_by = [{rule}]") + 'done = "boolean"\n')
    assert error.value.source is not None
    assert error.value.source.line in (1, 4)


def test_how_many_rows_a_value_has(tmp_path: Path) -> None:
    few = "max_rows_per_value = 7"
    declared = (
        f'clustered = [{{ columns = ["k"], gap = "1 hour", {few} }}, '
        f'{{ columns = ["k"], rows = 5, {few} }}]\n'
        f'ordered = [{{ column = "m", slack = 5, {few} }}, {{ column = "m", rows = 5, {few} }}]\n'
        f'closed_by = [{{ columns = ["k"], column = "done", max_open = 9, {few} }}]'
    )
    more = 'm = "int"\ndone = "boolean"\n'
    rules = make_catalog(tmp_path, _toml(declared) + more).streams["S"].closing
    assert [rule.most_rows for rule in rules] == [7] * 5
    within = 'clustered = [{ columns = ["k"], within = "1 hour", max_rows_per_value = 7 }]'
    with pytest.raises(CatalogError, match="within has max_rows_per_value") as error:
        make_catalog(tmp_path, _toml(within))
    assert error.value.source is not None
    assert error.value.source.line == 4


def test_a_rule_on_a_key_limits_nothing(tmp_path: Path) -> None:
    rule = 'keys = [["k"]]\nclustered = [{ columns = ["k", "a"], gap = "1 hour" }]'
    with pytest.raises(CatalogError, match=r"rows of 'S' that agree on k, a .* and \(k\) is a key"):
        make_catalog(tmp_path, _toml(rule))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ('on_violation = "count"', Breach(False)),
        ('on_violation = "count", remember = "1 hour"', Breach(False, 3_600_000_000)),
        ('on_violation = "reject", remember = "1 hour"', Breach(True, 3_600_000_000)),
        ('on_violation = "reject", remember = "forever"', Breach(True, None, 10)),
    ],
)
def test_what_becomes_of_rows_that_break_a_rule(
    rule: str, expected: Breach, tmp_path: Path
) -> None:
    declared = (
        f'clustered = [{{ columns = ["m"], gap = "1 hour", {rule} }}, '
        f'{{ columns = ["m"], within = "2 hours", {rule} }}]\n'
        f'closed_by = [{{ columns = ["m"], column = "done", max_open = 9, {rule} }}]'
    )
    more = 'm = { type = "int", min = 0, max = 9 }\ndone = "boolean"\n'
    stream = make_catalog(tmp_path, _toml(declared) + more).streams["S"]
    found = [*(lag.breach for lag in stream.lags), *(rule.breach for rule in stream.closing)]
    assert found == [expected] * 3


def test_what_spans_of_time_drop_is_kept_on_disk(tmp_path: Path) -> None:
    declared = 'clustered = [{ columns = ["k"], within = "2 hours", on_violation = "spill" }]'
    (lag,) = make_catalog(tmp_path, _toml(declared)).streams["S"].lags
    assert lag.breach == Breach(False, spill=True)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('clustered = [{ columns = ["k"], gap = "1 hour", on_violation = "spill" }]', "clustered"),
        ('clustered = [{ columns = ["k"], rows = 9, on_violation = "spill" }]', "clustered"),
        ('ordered = [{ column = "k", slack = 9, on_violation = "spill" }]', "ordered"),
    ],
)
def test_what_closes_values_does_not_spill(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=f'{said} has on_violation = "spill"') as error:
        make_catalog(tmp_path, _toml(rule))
    assert error.value.source is not None


def test_what_spills_remembers_nothing(tmp_path: Path) -> None:
    more = 'within = "2 hours", on_violation = "spill", remember = "1 day"'
    with pytest.raises(CatalogError, match="says remember, and on_violation"):
        make_catalog(tmp_path, _toml(f'clustered = [{{ columns = ["k"], {more} }}]'))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('on_violation = "drop"', "on_violation is 'drop'"),
        ('on_violation = "reject"', "does not say how long values are remembered"),
        ('remember = "1 day"', "says remember, and no on_violation"),
        ('on_violation = "count", remember = "90 seconds"', "not a whole number of the stream's"),
        ('on_violation = "count", remember = "0 seconds"', "not a whole number of the stream's"),
        ('on_violation = "reject", remember = "forever"', "values of k are any number"),
        ("on_violation = true", "must be a string"),
    ],
)
@pytest.mark.parametrize("place", ["clustered", "lags"])
def test_what_is_wrong_of_breaches_is_refused(
    rule: str, said: str, place: str, tmp_path: Path
) -> None:
    how = (
        'gap = "1 hour"' if place == "clustered" else 'behind = "S", to = ["a"], within = "1 hour"'
    )
    said = "a lag remembers for ever" if place == "lags" and "any number" in said else said
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f'{place} = [{{ columns = ["k"], {how}, {rule} }}]'))
    assert error.value.source is not None
    assert error.value.source.line in (1, 4)


def test_values_that_come_in_their_order(tmp_path: Path) -> None:
    declared = (
        'ordered = [{ column = "k", slack = 10 }, { column = "k", rows = 5, '
        'on_violation = "reject" }, { column = "day", slack = "2 days" }]'
    )
    stream = make_catalog(tmp_path, _toml(declared) + 'day = "date"\n').streams["S"]
    slack, rows, days = stream.closing
    assert (slack.columns, slack.slack, slack.late_rows, slack.breach) == (("k",), 10, None, None)
    assert (rows.slack, rows.late_rows, rows.breach) == (None, 5, Breach(True, None, 1))
    assert (days.columns, days.slack) == (("day",), 2)
    assert days.source is not None
    assert days.source.line == 4


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{ column = "b", slack = 1 }', "unknown column 'b' of 'S'"),
        ('{ column = "a", slack = 1 }', "'a' is string"),
        ('{ column = "k" }', "ordered by k has no slack"),
        ('{ column = "k", slack = 1, rows = 1 }', "ordered by k has slack and rows"),
        ('{ column = "k", slack = -1 }', "a whole number, 0 or more"),
        ('{ column = "k", slack = "1 day" }', "a whole number, 0 or more"),
        ('{ column = "day", slack = 1 }', "must be a string"),
        ('{ column = "day", slack = "1 hour" }', "not a whole number of days"),
        ('{ column = "k", rows = 1, remember = "1 day" }', "unknown key 'remember'"),
        ("{ slack = 1 }", "has no column"),
        ('"k"', "a list of tables"),
    ],
)
def test_what_is_wrong_of_an_order_is_refused(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f"ordered = [{rule}]") + 'day = "date"\n')
    assert error.value.source is not None
    assert error.value.source.line in (1, 4)


def test_a_key_may_have_an_order(tmp_path: Path) -> None:
    declared = 'keys = [["k"]]\nordered = [{ column = "k", slack = 1 }]'
    (rule,) = make_catalog(tmp_path, _toml(declared)).streams["S"].closing
    assert rule.slack == 1


def test_a_lag_that_is_watched_is_between_columns_of_one_type(tmp_path: Path) -> None:
    lag = 'lags = [{ behind = "S", columns = ["k"], to = ["p"], within = "1 hour"'
    price = 'p = "decimal(9,2)"\n'
    assert make_catalog(tmp_path, _toml(f"{lag} }}]") + price).streams["S"].lags
    with pytest.raises(CatalogError, match=r"and S.p is decimal.*, of a lag") as error:
        make_catalog(tmp_path, _toml(f'{lag}, on_violation = "count" }}]') + price)
    assert error.value.source is not None
    assert error.value.source.line == 4


def test_a_lag_between_columns_that_are_never_equal_is_refused(tmp_path: Path) -> None:
    lag = 'lags = [{ behind = "S", columns = ["k"], to = ["a"], within = "1 hour" }]'
    with pytest.raises(CatalogError, match=r"S.k is int, and S.a, .* is string") as error:
        make_catalog(tmp_path, _toml(lag))
    assert error.value.source is not None
    assert error.value.source.line == 4


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('clustered = [{ columns = ["k", "k"], gap = "1 hour" }]', "names a column twice"),
        ('clustered = [{ columns = ["k", "k"], within = "1 hour" }]', "names a column twice"),
        ('clustered = [{ columns = ["k"], rows = 9223372036854775807 }]', "at most"),
        ('ordered = [{ column = "k", slack = 9223372036854775807 }]', "at most"),
        ('ordered = [{ column = "k", rows = 9223372036854775807 }]', "at most"),
        (
            (
                'lags = [{ behind = "S", columns = ["k"], to = ["j"], rows = 9007199254740992, '
                'every = "1 hour" }]'
            ),
            "more than 10,000 years",
        ),
        (
            (
                'lags = [{ behind = "S", columns = ["k"], to = ["k"], within = "1 hour", '
                'matches = "one" }]'
            ),
            "that is a key, and no lag",
        ),
    ],
)
def test_what_no_row_could_keep_is_refused(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(rule) + 'j = "int"\n')
    assert error.value.source is not None
    assert error.value.source.line == 4


@pytest.mark.parametrize("how", ['within = "1 hour"', 'gap = "1 hour"', "rows = 5"])
@pytest.mark.parametrize("columns", ['["k"]', '["k", "a"]'])
def test_a_key_leaves_nothing_to_limit(how: str, columns: str, tmp_path: Path) -> None:
    rule = f'keys = [["k"]]\nclustered = [{{ columns = {columns}, {how} }}]'
    with pytest.raises(CatalogError, match=r"\(k\) is a key") as error:
        make_catalog(tmp_path, _toml(rule))
    assert error.value.source is not None
    assert error.value.source.line == 5
    twin = rule.replace('["k"]]', '["k", "ts"]]')
    assert make_catalog(tmp_path, _toml(twin)).streams["S"].keys


def _lag(said: str) -> str:
    entry = f'{{ behind = "S", columns = ["k"], to = ["j"], {said} }}'
    return _toml(f"lags = [{entry}]") + 'j = "int"\n'


def test_a_lag_in_rows_is_one_in_time_where_they_come_often(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, _lag('rows = 30, every = "2 minutes", matches = "one"'))
    (lag,) = catalog.streams["S"].lags
    assert (lag.within_us, lag.rows, lag.every_us) == (3_600_000_000, 30, 120_000_000)
    assert lag.one
    (twin,) = make_catalog(tmp_path, _lag('within = "1 hour"')).streams["S"].lags
    assert (twin.within_us, twin.rows, twin.one) == (3_600_000_000, None, False)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("rows = 30", "lags counts 30 rows, and says not how often they come"),
        ('rows = 30, within = "1 hour"', "lags says within and rows"),
        ('every = "1 hour"', "lags says every, and no rows"),
        ('rows = -1, every = "1 hour"', "a whole number, 0 or more"),
        ('rows = 30, every = "90 seconds"', "not a whole number of the stream's steps"),
        ('rows = 30, every = "0 seconds"', "rows come every 0 steps"),
        ('within = "1 hour", matches = "two"', "matches is 'two'"),
        ('within = "1 hour", matches = "one", on_violation = "spill"', 'matches is "one"'),
    ],
)
def test_what_is_wrong_in_a_lag_is_refused_with_its_line(
    said: str, wrong: str, tmp_path: Path
) -> None:
    with pytest.raises(CatalogError, match=wrong) as error:
        make_catalog(tmp_path, _lag(said))
    assert error.value.source is not None
    assert error.value.source.line == 4


@pytest.mark.parametrize(
    ("rule", "floor"),
    [
        (
            'clustered = [{ columns = ["k"], gap = "1 hour", adapt = true, floor = "5 minutes" }]',
            3e8,
        ),
        ('clustered = [{ columns = ["k"], rows = 500, adapt = true, floor = 9 }]', 9),
        ('ordered = [{ column = "k", slack = 500, adapt = true, floor = 0 }]', 0),
        ('ordered = [{ column = "k", rows = 500, adapt = true, floor = 500 }]', 500),
        ('ordered = [{ column = "d", slack = "3 days", adapt = true, floor = "1 day" }]', 1),
        ('ordered = [{ column = "k", slack = 500 }]', None),
    ],
)
def test_rules_adapt_down_to_a_floor(rule: str, floor: float | None, tmp_path: Path) -> None:
    (made,) = make_catalog(tmp_path, _toml(rule) + 'd = "date"\n').streams["S"].closing
    assert made.floor == floor


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{ columns = ["k"], gap = "1 hour", adapt = true }', "has no floor"),
        ('{ columns = ["k"], gap = "1 hour", floor = "1 minute" }', "floor is declared, and adapt"),
        ('{ columns = ["k"], rows = 5, adapt = true, floor = 6 }', "the floor is greater than"),
        (
            '{ columns = ["k"], rows = 5, adapt = true, floor = "1 hour" }',
            "a whole number, 0 or more",
        ),
        ('{ columns = ["k"], within = "1 hour", adapt = true }', "clustered by within has adapt"),
    ],
)
def test_what_is_wrong_in_adapt_is_refused_with_its_line(
    rule: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f"clustered = [{rule}]"))
    assert error.value.source is not None
    assert error.value.source.line == 4
