"""A project made of data at hand: `ontoweir init DIR --from FILE …`.

Takes local files; guesses which are streams, which column is their time, and what types columns
have (`read_sample`, `guess_tables`), has the streams measured (`measuring`), and writes a catalog,
an ontology, a mapping and queries (`write_scaffold`). Door: `make_scaffold`.
"""
