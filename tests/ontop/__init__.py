"""A second oracle: Ontop, over H2 in memory, for those who have Java and Maven.

`run_ontop` fetches its artefacts (`python -m tests.ontop.run_ontop`) and asks it the queries of
folders, by AskOntop.java; benchmarks/compile/compare_ontop.py uses it too.
"""
