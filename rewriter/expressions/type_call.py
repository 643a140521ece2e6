"""A call of a user's function in SPARQL: `<urn:ontoweir:udf:NAME>(…)`."""

from collections.abc import Mapping, Sequence

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.expression import Expression, UserCall, UserFunction
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.rewriter.expressions.not_exact import NotExactError

USER = "urn:ontoweir:udf:"
"""Before the names of users' functions."""


def type_call(
    iri: str, given: Sequence[Expression], functions: Mapping[str, UserFunction]
) -> UserCall:
    """The call of the function that an IRI names.

    Raises:
        NotExactError: there is none, or it takes other values.
    """
    name = iri.removeprefix(USER)
    function = functions.get(name)
    if function is None:
        raise NotExactError(
            f"the function <{iri}>",
            f"declare it, as --udf module:{name}; " + did_you_mean(name, functions)
            if functions
            else f"declare it: --udf module:{name}",
        )
    try:
        return build.call_user(function, given)
    except build.TypeClash as clash:
        raise NotExactError(f"a call that does not fit ({clash})", "pass what it takes") from None
