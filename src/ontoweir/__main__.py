"""`python -m ontoweir` is `ontoweir`."""

from ontoweir.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
