"""What a replay from the shell costs, all included: the week of the traffic example, with what is
kept between runs, and without.

    .venv/bin/python benchmarks/start/replay_start.py [--repeat 5] [--query NAME]

Prints the CPU seconds of each run, those of the first one with an empty cache apart; and those of
a Python that imports numpy and pyarrow alone.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "traffic"
PROGRAM = "from ontoweir.cli import run_program; import sys; sys.exit(run_program())"
LIBRARIES = "import numpy, pyarrow, pyarrow.parquet, pyarrow.compute"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--query", default="roads-congested-then-slow-within-30-minutes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "data"
        make = [sys.executable, str(EXAMPLE / "generate.py"), "--output", str(data), "--days", "7"]
        subprocess.run(make, check=True, capture_output=True)
        paths = {"streams.traffic": data / "traffic", "relations.sensor": data / "sensor.csv"}
        asked = [part for k, v in paths.items() for part in ("--set", f"{k}.source.path={v}")]
        asked += ["--query", given.query, "--output", str(folder / "out.parquet"), "--quiet"]
        command = [sys.executable, "-c", PROGRAM, "replay", str(EXAMPLE), *asked]
        first = measure([*command, "--cache", str(folder / "cache")])
        print(f"with an empty cache: {first:.2f}")
        for said, cache in (("with what is kept", str(folder / "cache")), ("without", "off")):
            spent = [measure([*command, "--cache", cache]) for _ in range(given.repeat)]
            print(f"{said}: {', '.join(f'{s:.2f}' for s in spent)}")
    alone = [measure([sys.executable, "-c", LIBRARIES]) for _ in range(given.repeat)]
    print(f"numpy and pyarrow alone: {', '.join(f'{s:.2f}' for s in alone)}")


def measure(command: list[str]) -> float:
    """The CPU seconds of a process, of which Python may keep the bytecode."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


if __name__ == "__main__":
    main()
