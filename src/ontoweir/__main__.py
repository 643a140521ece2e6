"""`python -m ontoweir` is `ontoweir`."""

from ontoweir.cli import run_program

if __name__ == "__main__":
    raise SystemExit(run_program())
