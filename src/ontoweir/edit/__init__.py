"""Changes to a user's texts: SPARQL, SQL, TOML; and repairs as such changes."""
