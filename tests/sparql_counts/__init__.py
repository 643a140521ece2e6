"""SPARQL 1.1's counts: replays against rdflib.

A case is a project with data and one query. `read_graphs` makes of its files the RDF graph of every
timestamp, `close_graph` what the ontology's hierarchies add, `ask_rdflib` the bag of answers that
rdflib's SPARQL engine finds in them. None of the three imports anything of ontoweir. `replay_case`
asks the pipeline, `compare_answers` compares. Random cases come from `random_cases`; `shrink_case`
makes one that fails small, and `write_case` prints it.
"""
