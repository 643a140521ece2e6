"""Mappings that a user has, over tables of data that were guessed.

Takes R2RML or `.obda` and a catalog; says which triples maps fit (`fit_mappings`), and writes first
queries in their words (`write_mapped`). Doors: these two.
"""
