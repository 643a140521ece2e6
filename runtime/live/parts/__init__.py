"""A query's state divided by key among Spark's executors.

Takes the rows that a step has admitted, divided; each part is a task, which reads the state of its
part, advances it, and writes what has changed. Doors: `advance_parts`, in the driver;
`place_queries`, which chooses what is divided, and gives Spark the tasks.
"""
