"""What holds of the data at hand, and what declaring it would change.

Takes a project and its data; measures its streams (`runtime.measure`), proposes what they keep as
declarations, and decides the queries with them. Makes a `Measurement`, which commands show. Doors:
`measure_project`, `show_measurement`, `write_declarations`.
"""
