"""Tables of a database that a connection leads to, as Arrow tables. It takes an address, and gives
rows with types; others import `read_postgres`."""
