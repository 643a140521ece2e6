"""What holds of a history: how its rows arrive, and what its columns have.

Takes the history of a stream, as declared or not; reads the timestamps in the order in which they
came, then the rows in the order of time (`sources`, `lateness`); makes a `MeasuredStream`: rates,
lateness, values, keys, and how the rows of one value lie in time. Nothing here knows queries.
Doors: `measure_stream`, `measured`.
"""
