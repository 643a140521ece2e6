"""Which terms tell the values that they are made from, by the types of their columns."""

import pytest

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Relation,
    StringType,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    Occurrence,
    Output,
    TemplateLiteralOutput,
)

COLUMNS = (*(Column(n, IntType()) for n in "ij"), *(Column(n, StringType()) for n in "ab"))
CATALOG = Catalog({}, {"r": Relation("r", DataSource("csv", "r"), COLUMNS)})
TYPES = Types(CATALOG, (Occurrence("r", "r"),))
I, J, A, B = (Attribute("r", n) for n in "ijab")  # noqa: E741


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (IriOutput(("http://x/", I, J)), False),  # 1, 12 and 11, 2
        (IriOutput(("http://x/", I, "/", J)), True),
        (IriOutput(("http://x/", I)), True),
        (IriOutput(("http://x/", I, "-", J)), True),  # after a digit, a number has no sign
        (IriOutput(("http://x/", I, "0", J)), False),
        (IriOutput(("http://x/", A, "-", B)), False),  # a value may hold what separates them
        (IriOutput(("http://x/", A, "%20", B)), False),
        (IriOutput(("http://x/", A, "/", B)), True),  # it is percent-encoded
        (IriOutput(("http://x/", I, "-", A)), True),
        (IriOutput(("http://x/", A, "-", I)), False),
        (IriOutput((A,)), True),
        (TemplateLiteralOutput((I, "/", J)), True),
        (TemplateLiteralOutput((A, "/", B)), False),  # it is not
        (BlankOutput((A, "/", B)), False),
        (BlankOutput((I, "/", B)), True),
        (LiteralOutput(A), True),
        (ConstantOutput("x", is_iri=True), True),
    ],
)
def test_which_terms_tell_their_values(output: Output, expected: bool) -> None:
    assert is_injective(output, TYPES) == expected
