"""What is known of a project from earlier runs, by the content of all that it was made of.

Takes a project and the cache; gives ontologies, mappings, queries and verdicts as they were read
and found, or nothing. Doors: `recall_inputs`, `read_ontology_cached`, `read_mappings_cached`,
`recall_query`.
"""
