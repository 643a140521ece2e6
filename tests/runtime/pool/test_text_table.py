"""Tables of texts, compared with Python's dict: hashes that coincide, NULL, dictionaries."""

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ontoweir.runtime.pool import take_pieces, text_table
from ontoweir.runtime.pool.hash_texts import group_hashes, hash_texts
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.take_pieces import take_texts
from ontoweir.runtime.pool.text_table import TEXT, Codes, TextTable
from ontoweir.runtime.sources.coded_texts import pick_rows

PARTS = (
    "",
    "a",
    "ab",
    "é",
    "€",
    "😀",
    "\0",
    "0123456",
    "01234567",
    "012345678",
    "x" * 63,
    "y" * 80,
)
TEXTS = st.one_of(
    st.none(), st.text(max_size=20), st.lists(st.sampled_from(PARTS), max_size=5).map("".join)
)
COLUMNS = st.lists(st.lists(TEXTS, max_size=30), max_size=6)


def make(values: list[str | None], way: int) -> "pa.Array":
    """A column in one of the forms that files give."""
    match way:
        case 0:
            return pa.array(values, pa.string())
        case 1:
            return pa.array(["before", *values, "behind"], pa.large_string()).slice(1, len(values))
        case 2:
            return pa.array(values, pa.string()).dictionary_encode()
        case _:  # NULL is in the dictionary, too
            texts = pa.array([None, *values, "unused"], pa.string())
            return pa.DictionaryArray.from_arrays(
                pa.array([None if i % 5 == 4 else i + 1 for i in range(len(values))], pa.int32()),
                texts,
            )


@given(COLUMNS, st.integers(0, 3))
def test_codes_are_those_of_a_dict(columns: list[list[str | None]], way: int) -> None:
    table = TextTable()
    known: dict[str, int] = {}
    for values in columns:
        column = make(values, way)
        values = column.to_pylist()
        expected = [known.get(v, -1) if v is not None else -1 for v in values]
        assert table.find(column).tolist() == expected
        codes = table.add(column)
        assert (codes >= 0).tolist() == [v is not None for v in values]
        known |= {v: int(c) for v, c in zip(values, codes, strict=True) if v is not None}
        assert [known[v] for v in values if v is not None] == codes[codes >= 0].tolist()
        assert table.take(codes[codes >= 0]).to_pylist() == [v for v in values if v is not None]
    assert sorted(known) == sorted(set(known))
    assert len(table) == len(known)  # what only a dictionary has gets no code
    assert len(set(table.texts.to_pylist())) == len(table)


@given(COLUMNS, st.integers(0, 3), st.integers(1, 3), st.sampled_from([0, 1 << 16]))
def test_distinct_texts_get_codes_as_others(
    columns: list[list[str | None]], way: int, chunks: int, small: int
) -> None:
    """In pieces, with NULL, after others, and among permanent ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "_SMALL", small)
        plain, told = StringPool(TextTable(), TextTable()), StringPool(TextTable(), TextTable())
        for pool in (plain, told):
            pool.permanent.add(pa.array(["ab", "é"][: way % 3]))
        for values in columns:
            nulls = [None] * values.count(None)
            column = make([*dict.fromkeys(v for v in values if v is not None), *nulls], way)
            cuts = [n * len(column) // chunks for n in range(chunks + 1)]
            pieces = [column.slice(a, b - a) for a, b in pairwise(cuts)]
            whole = pa.chunked_array(pieces, column.type)
            codes = told.encode(whole, distinct=True)
            assert codes.tolist() == plain.encode(whole).tolist()
            assert told.others.texts.equals(plain.others.texts)


@given(COLUMNS, st.integers(0, 3))
def test_texts_are_found_by_their_hashes_alone(columns: list[list[str | None]], way: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "_SMALL", 0)
        test_codes_are_those_of_a_dict.hypothesis.inner_test(columns, way)  # type: ignore[attr-defined]


@given(COLUMNS, st.integers(0, 3), st.integers(1, 2))
def test_pieces_of_one_dictionary(columns: list[list[str | None]], way: int, chunks: int) -> None:
    """Slices share their dictionary; what is known of it is not what came later."""
    table = TextTable()
    known: dict[str, int] = {}
    whole = make([v for values in columns for v in values], way)
    start = 0
    for number, values in enumerate(columns):
        piece = whole.slice(start, len(values))
        start += len(values)
        column = pa.chunked_array([piece.slice(n) for n in range(chunks)])
        texts = column.to_pylist()
        expected = [known.get(v, -1) if v is not None else -1 for v in texts]
        assert table.find(column).tolist() == expected
        if number % 2:
            table.add(pa.array(["ab", f"other-{number}"]))
            known |= {t: int(c) for c, t in enumerate(table.texts.to_pylist())}
        codes = table.add(column).tolist()
        known |= {v: c for v, c in zip(texts, codes, strict=True) if v is not None}
        assert codes == [-1 if v is None else known[v] for v in texts]
        assert table.texts.to_pylist() == sorted(known, key=known.__getitem__)


@given(COLUMNS, st.data())
def test_rows_of_dictionaries(columns: list[list[str | None]], data: st.DataObject) -> None:
    pieces = [make(values, 2) for values in columns]
    column = pa.chunked_array(pieces, pa.dictionary(pa.int32(), pa.string()))
    rows = data.draw(st.sets(st.integers(0, max(0, len(column) - 1)), max_size=len(column)))
    index = np.array(sorted(rows), dtype=np.int64)
    texts = column.to_pylist()
    assert text_table.take_rows(column, index).to_pylist() == [texts[i] for i in index]


@given(COLUMNS)
def test_texts_whose_hashes_coincide_are_told_apart(columns: list[list[str | None]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "hash_texts", lambda texts: hash_texts(texts) % np.uint64(2))
        patch.setattr(text_table, "_SMALL", 0)
        test_codes_are_those_of_a_dict.hypothesis.inner_test(columns, 0)  # type: ignore[attr-defined]


@given(st.lists(TEXTS, max_size=40))
def test_a_hash_does_not_depend_on_the_place(values: list[str | None]) -> None:
    alone = [int(hash_texts(pa.array([v], TEXT))[0]) for v in values if v is not None]
    together = hash_texts(pa.array(["some", *values], TEXT).slice(1))
    assert together[[v is not None for v in values]].tolist() == alone


def test_hashes_of_like_texts_differ() -> None:
    texts = [f"{'https://example.org/sensor/' * n}{i}" for n in (0, 1, 9) for i in range(20_000)]
    texts += ["\0" * n for n in range(200)]
    texts += [f"{'a' * n}b{'a' * (60 - n)}" for n in range(61)]
    assert len(np.unique(hash_texts(pa.array(texts, TEXT)))) == len(set(texts))


def test_long_texts_that_differ_in_the_middle_only() -> None:
    texts = [f"{'a' * 100}{n}{'b' * 100}" for n in range(10, 100)]
    table = TextTable()
    assert table.add(pa.array(texts)).tolist() == list(range(90))
    assert table.find(pa.array([*texts[::-1], "a" * 202])).tolist() == [*range(89, -1, -1), -1]


def test_many_texts() -> None:
    numbers = np.random.default_rng(1).permutation(50_000)
    column = pa.array([f"sensor-{n}" for n in numbers])
    table = TextTable()
    assert (table.add(column) == np.arange(50_000)).all()
    back = np.arange(50_000)[::-1]
    assert (table.find(column.take(pa.array(back))) == back).all()
    assert table.take(back).to_pylist() == column.to_pylist()[::-1]


@given(
    st.lists(st.text(max_size=4), max_size=10), st.lists(TEXTS, max_size=10), st.text(max_size=4)
)
def test_comparisons_are_those_of_python(
    permanent: list[str], others: list[str | None], text: str
) -> None:
    table = TextTable()
    table.add(pa.array(permanent, pa.string()))
    pool = StringPool(table)
    codes = pool.encode(pa.array(others, pa.string()))
    for name, compare in {
        "less": str.__lt__,
        "less_equal": str.__le__,
        "greater": str.__gt__,
        "greater_equal": str.__ge__,
    }.items():
        compared = pool.compare(name, text, codes).tolist()
        assert compared == [v is not None and compare(v, text) for v in others]


@given(
    st.lists(st.text(max_size=2), max_size=8),
    st.lists(TEXTS, max_size=12),
    st.sets(st.integers(0, 20)),
)
def test_what_is_kept_has_new_codes(
    permanent: list[str], others: list[str | None], used: set[int]
) -> None:
    table = TextTable()
    table.add(pa.array(permanent, pa.string()))
    pool = StringPool(table)
    pool.encode(pa.array(others, pa.string()))
    size = len(pool)
    before = pool.take(np.arange(size)).to_pylist()
    kept, moved = pool.keep_only(np.array(sorted(used), dtype=np.int64))
    after = StringPool(table)
    after.others.add(kept)
    assert len(moved) == size
    for code in range(size):
        if code < len(table) or code in used:
            assert after.take(moved[[code]]).to_pylist() == [before[code]]
        else:
            assert moved[code] == -1
    assert len(after) == len(table) + len({c for c in used if len(table) <= c < size})


@given(COLUMNS, st.integers(0, 3))
def test_codes_of_another_table_that_grows(columns: list[list[str | None]], way: int) -> None:
    """Of its texts, and of what is made of them, each by itself."""
    table, pool = TextTable(), StringPool()
    pool.permanent.add(pa.array(PARTS[::2], TEXT))
    for number, values in enumerate(columns):
        codes = pool.encode(make(values, way))
        codes = codes[codes >= 0]
        texts = pool.take(codes).to_pylist()
        if number % 2:
            table.add(pa.array(["<ab>", f"other-{number}"]))
        if number == 2:
            pool = StringPool(pool.permanent)  # the others are forgotten
            codes = pool.encode(pa.array(texts, TEXT))
        plain = pool.move(table, codes)
        assert table.take(plain).to_pylist() == texts
        marked = pool.move(table, codes, "marked", mark)
        assert table.take(marked).to_pylist() == [f"<{t}>" for t in texts]
    assert len(set(table.texts.to_pylist())) == len(table)


def mark(texts: "pa.Array") -> "pa.Array":
    """Each text between brackets."""
    return pa.array([f"<{t}>" for t in texts.to_pylist()], pa.string())


def test_each_text_of_another_table_is_looked_up_once() -> None:
    table, other, asked = TextTable(), TextTable(), []

    def note(texts: "pa.Array") -> "pa.Array":
        asked.extend(texts.to_pylist())
        return texts

    for texts in (["a", "b"], ["b", "c"], ["a", "d"]):
        table.adopt(other, other.add(pa.array(texts)), "noted", note)
    assert asked == ["a", "b", "c", "d"]


def test_what_all_texts_come_from_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its texts that are not here yet are new; once there are others, they may be there already."""
    monkeypatch.setattr(text_table, "_SMALL", 0)  # look-ups hash
    table, other, hashed = TextTable(), TextTable(), []

    def note(texts: "pa.LargeStringArray") -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
        hashed.extend(texts.to_pylist())
        return hash_texts(texts)

    codes = [other.add(pa.array(texts)) for texts in (["a", "b"], ["c", "b"], ["d", "e", "a"])]
    monkeypatch.setattr(text_table, "hash_texts", note)
    assert table.adopt(other, codes[0]).tolist() == [0, 1]
    assert table.adopt(other, codes[1]).tolist() == [2, 1]
    assert not hashed
    assert table.add(pa.array(["d", "x"])).tolist() == [3, 4]
    assert table.adopt(other, codes[2]).tolist() == [3, 5, 0]
    assert table.texts.to_pylist() == ["a", "b", "c", "d", "x", "e"]
    again = TextTable()
    again.add(pa.array(["x", "y"]))
    assert table.adopt(again, np.array([1, 0])).tolist() == [6, 4]  # as many, but others


def test_texts_of_one_length_are_held_once() -> None:
    """As long as a table has those of the other one, in their order, and no others."""
    table, other = TextTable(), TextTable()
    for texts in (["ab", "cd"], ["ef", "ab"]):
        codes = other.add(pa.array(texts))
        assert table.adopt(other, codes).tolist() == codes.tolist()
    assert table._texts._bytes is other._texts._bytes
    assert table.find(pa.array(["cd", "ef", "gh"])).tolist() == [1, 2, -1]
    other.add(pa.array(["gh", "ij", "kl"]))
    assert table.adopt(other, np.array([4, 0])).tolist() == [3, 0]  # not the next one
    assert table.add(pa.array(["gh"])).tolist() == [4]
    assert table.adopt(other, np.array([3, 5, 4])).tolist() == [4, 5, 3]
    assert table.texts.to_pylist() == ["ab", "cd", "ef", "ij", "gh", "kl"]
    assert other.texts.to_pylist() == ["ab", "cd", "ef", "gh", "ij", "kl"]
    own = TextTable()
    own.add(pa.array(["xy"]))
    assert own.adopt(other, np.array([1, 2])).tolist() == [1, 2]
    assert own.texts.to_pylist() == ["xy", "cd", "ef"]


def test_a_table_is_sent_as_its_texts() -> None:
    table, other = TextTable(), TextTable()
    codes = table.adopt(other, other.add(pa.array(["b", "a"])))
    table.find(pa.array(["a", "x"]))
    sent = pickle.loads(pickle.dumps(table))
    assert sent.take(codes).to_pylist() == ["b", "a"]
    assert sent.add(pa.array(["new", "a", "b"])).tolist() == [2, 1, 0]


@pytest.mark.parametrize("seed", range(40))
def test_texts_of_dictionaries_that_rows_have(seed: int) -> None:
    """Each is looked up once, however late it comes; of those that no row has nothing is added."""
    random = np.random.default_rng(seed)
    texts = [f"t{n}" for n in range(int(random.integers(1, 30)))] + [None] * int(seed % 3 == 0)
    dictionary, table = pa.array(texts, pa.string()), TextTable()
    for _ in range(3):
        rows = int(random.choice([0, 5, 9000]))
        places = random.integers(0, len(texts), rows)
        common = random.random(rows) < random.choice([0.0, 0.9, 0.999])
        places[common] = places[:1].repeat(common.sum())
        indices = pa.array(places.astype(np.int32), mask=random.random(rows) < 0.1)
        column = pa.DictionaryArray.from_arrays(indices, dictionary)
        before = len(table)
        found = table.find(column)
        codes = table.add(column)
        values = column.to_pylist()
        assert [None if c < 0 else table.texts[c].as_py() for c in codes] == values
        late = np.array([c >= before or c < 0 for c in codes], dtype=bool)
        assert (found[late] < 0).all()
        assert (found[~late] == codes[~late]).all()
        assert set(table.texts.to_pylist()) >= {v for v in values if v is not None}
        assert len(table) - before == len({c for c in codes if c >= before})


@given(COLUMNS, st.integers(0, 3), st.data())
def test_rows_of_tables_in_pieces(
    columns: list[list[str | None]], way: int, data: st.DataObject
) -> None:
    """Ascending or not, with repetitions; pieces may be empty, and there may be none."""
    pieces = [make(values, way) for values in columns]
    kind = make([], way).type
    column = pa.chunked_array(pieces, kind)
    numbers = pa.chunked_array([pa.array(range(len(p)), pa.int64()) for p in pieces], pa.int64())
    table = pa.table({"t": column, "n": numbers})
    places = st.lists(st.integers(0, max(0, len(column) - 1)), max_size=20 if len(column) else 0)
    index = np.array(data.draw(places), dtype=np.int64)
    ascending = np.sort(index)
    for rows in (ascending,) if way == 3 else (index, ascending):  # Arrow unites no NULL
        picked = pick_rows(table, rows)
        whole = table.to_pylist()
        assert picked.schema == table.schema
        assert picked.to_pylist() == [whole[i] for i in rows]
    none = pick_rows(table.select([]), index)
    assert none.num_columns == 0


@given(COLUMNS, st.integers(0, 1), st.sampled_from([1, 1 << 62]))
def test_texts_that_rarely_repeat(columns: list[list[str | None]], way: int, modulus: int) -> None:
    """What is added by hashes alone, and compared once: some hashes coincide, or none."""
    with pytest.MonkeyPatch.context() as patch:
        known = hash_texts
        patch.setattr(text_table, "hash_texts", lambda t: known(t) % np.uint64(modulus))
        patch.setattr(text_table, "_SMALL", -1)
        test_codes_are_those_of_a_dict.hypothesis.inner_test(columns, way)  # type: ignore[attr-defined]


@given(
    st.lists(st.text("aé", max_size=3) | st.text("ab", min_size=3, max_size=3), min_size=1),
    st.lists(st.integers(0, 50), max_size=60),
    st.integers(0, 3),
)
@example(["ab", "a", "abc"], [2, 1, 0], 0)  # two bytes each, if only all together are looked at
def test_taken_texts_are_those_that_arrow_takes(
    texts: list[str], places: list[int], before: int
) -> None:
    """Of one length, which are picked as bytes, and of several."""
    for kind in (TEXT, pa.string()):
        column = pa.array([*"xyz"[:before], *texts, "behind"], kind).slice(before, len(texts))
        rows = np.array([place % len(texts) for place in places], dtype=np.int64)
        taken = take_texts(column, rows)
        taken.validate(full=True)
        assert taken.type == kind
        assert taken.equals(column.take(pa.array(rows)))
        with pytest.raises(IndexError):
            take_texts(column, np.append(rows, -1))


def test_what_a_column_does_not_hold_is_left_to_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of 32 bits' places whose bytes need more: Arrow says so, nothing is cut."""
    monkeypatch.setitem(take_pieces._MOST, pa.string(), 8)
    asked = []
    monkeypatch.setattr(take_pieces, "_as_texts", lambda *held: asked.append(held))
    column = pa.array(["abcd", "efgh"])
    assert take_texts(column, np.array([1, 0])).to_pylist() == ["efgh", "abcd"]
    assert not asked
    take_texts(column, np.array([1]))
    assert asked


def test_numbers_of_hashes() -> None:
    random = np.random.default_rng(3)
    for rows in (1, 2, 7, 4_096, 10_000):
        hashes = random.integers(0, 2**64, max(1, rows // 2), dtype=np.uint64)
        hashes = hashes[random.integers(0, len(hashes), rows)]
        firsts, groups = group_hashes(hashes)
        coded = pa.array(hashes).dictionary_encode()
        assert groups.tolist() == coded.indices.to_pylist()
        assert hashes[firsts].tolist() == coded.dictionary.to_pylist()


@given(COLUMNS, st.booleans(), st.sampled_from([3, 1 << 16]))
def test_pieces_are_looked_up_as_the_column(
    columns: list[list[str | None]], large: bool, small: int
) -> None:
    """Short columns in one piece, whatever pieces they come in."""
    kind = TEXT if large else pa.string()
    pieces = pa.chunked_array([pa.array(c, kind) for c in columns], kind)
    known: dict[str, int] = {}
    want = [-1 if t is None else known.setdefault(t, len(known)) for c in columns for t in c]
    calls: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "_SMALL", small)
        plain = TextTable._add

        def count(table: TextTable, texts: "pa.LargeStringArray") -> Codes:
            calls.append(len(texts))
            return plain(table, texts)

        patch.setattr(TextTable, "_add", count)
        table = TextTable()
        assert table.add(pieces).tolist() == want
    assert table.find(pieces).tolist() == want
    assert table.texts.to_pylist() == list(known)
    if len(pieces) <= small and columns:
        assert calls == [len(pieces)]
