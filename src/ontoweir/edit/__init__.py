"""Changes to a user's texts: SPARQL, SQL, TOML; and repairs as such changes.

Which changes mend a query: `checker/repair`; how they are written: here.
"""
