"""How long `check` takes for queries that were hard to decide: whole processes, repairs included.

    .venv/bin/python benchmarks/decide/hard_decisions.py [--runs 3]

Chains and cliques of comparisons over up to twelve streams, and over one. Prints the verdict, and
the least and the median wall-clock time of the runs beside that of a query that is decided at once.

"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import combinations, pairwise
from pathlib import Path

STREAMS = 12
STREAM = """
[streams.s{0}]
source = {{ format = "parquet", path = "s{0}.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
columns = {{ a = "int", k = {{ type = "int", min = 0, max = 9 }} }}
"""


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = "[project]\n" + "".join(STREAM.format(n) for n in range(STREAMS))
        (folder / "ontoweir.toml").write_text(text)
        base = 0.0
        for label, sql in list_queries().items():
            (folder / "q.sql").write_text(sql)
            times, verdict = [], "?"
            for _ in range(runs):
                begun = time.perf_counter()
                verdict = decide(folder)
                times.append(time.perf_counter() - begun)
            base = base or min(times)
            print(
                f"{label:34} {verdict:10} {min(times):6.2f} {statistics.median(times):6.2f} s"
                f"  ({min(times) / base:.1f} times the first)",
                flush=True,
            )
    return 0


def decide(folder: Path) -> str:
    """The verdict of the query in a folder."""
    command = [sys.executable, "-m", "ontoweir", "check", str(folder)]
    words = [*command, "--sql", str(folder / "q.sql"), "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    verdict: str = json.loads(done.stdout)[0]["verdict"]
    return verdict


def list_queries() -> dict[str, str]:
    """The queries, by what they are."""
    found = {"one stream": "SELECT a FROM s0"}
    for size in (6, 8, 12):
        for distinct in ("", "DISTINCT "):
            for one in (False, True):
                where = "of one stream" if one else "of streams"
                kind = "set" if distinct else "bag"
                chain = [f"x{a}.a < x{b}.a" for a, b in pairwise(range(size))]
                found[f"{kind}, chain of {size} {where}"] = _query(distinct, size, one, chain)
                if size < STREAMS:
                    clique = [f"x{a}.a <> x{b}.a" for a, b in combinations(range(size), 2)]
                    found[f"{kind}, {size} pairwise <> {where}"] = _query(
                        distinct, size, one, clique
                    )
    return found


def _query(distinct: str, size: int, one: bool, conditions: list[str]) -> str:
    tables = ", ".join(f"s{0 if one else n} x{n}" for n in range(size))
    return f"SELECT {distinct}1 AS one FROM {tables} WHERE {' AND '.join(conditions)}\n"


if __name__ == "__main__":
    sys.exit(main())
