"""Arrow is not brought by deciding, but where values of few columns are computed."""

import subprocess
import sys

CODE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "numpy"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
from ontoweir.mappings.expressions.domains.derive_domain import derive_domain
from ontoweir.mappings.model.catalog import Column, FloatType
from ontoweir.mappings.model.expression import Call, Field, Function

fields = (Field("celsius", FloatType()), Field("before", FloatType()))
difference = Call(Function.SUBTRACT, fields, FloatType())
print(derive_domain(difference, [Column("celsius", FloatType()), Column("before", FloatType())]))
"""


def test_the_domain_of_a_difference_needs_no_arrow() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("None\n", "")
