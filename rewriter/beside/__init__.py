"""The latest row of a stream beside each row of static relations: of a register of sensors.

Takes SQL as it is written; makes one phrasing of all, and of that the rows of which the first of
each key holds. Door: `read_beside`.
"""
