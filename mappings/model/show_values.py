"""Listed values, and advice to declare a key, in a line that can be read."""

from collections.abc import Sequence

from ontoweir.mappings.model.catalog import Stream

_FEW = 8


def show_values(values: Sequence[object]) -> str:
    """Up to eight values each, `{a, b}`; of more the number, the first and the last, e.g. `300
    values: dev-0000 … dev-0299`."""
    if len(values) <= _FEW:
        return f"{{{', '.join(map(str, values))}}}"
    return f"{len(values):,} values: {values[0]} … {values[-1]}"


def advise_key(stream: Stream, columns: Sequence[str]) -> str:
    """What to declare, so that no two rows have the same values in some columns: where a declared
    key has more columns than these, the data is likely to break the shorter one."""
    listed = ", ".join(f'"{n}"' for n in columns)
    advice = f"declare keys = [[{listed}]] in [streams.{stream.name}]"
    if not any(set(key) > set(columns) for key in stream.keys):
        return advice
    return f"{advice} if its rows differ in these (a longer key is declared; check --data counts)"
