"""Ontology-based data access over streams, in bounded memory."""

__version__ = "0.1.0"
