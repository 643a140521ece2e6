"""What an ontology and mappings allow, and what they may say by mistake."""
