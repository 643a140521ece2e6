"""Queries can be parsed in several threads at once, from the first one on."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, threading
from ontoweir.rewriter.sparql.parse_query import parse_query

sys.setswitchinterval(1e-5)
text = open(sys.argv[1], encoding="utf-8").read()
told = []

def parse():
    for _ in range(3):
        try:
            told.append(str(parse_query(text, name="q", file="q.rq")))
        except Exception as error:
            told.append(repr(error))

threads = [threading.Thread(target=parse) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(told) == 12, told
assert len(set(told)) == 1, set(told)
assert "ConjunctiveQuery" in told[0], told[0]
"""


def test_the_first_queries_are_parsed_at_once(root: Path) -> None:
    query = root / "examples/traffic/queries/roads-where-congestion-got-worse.rq"
    command = [sys.executable, "-c", SCRIPT, str(query)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
