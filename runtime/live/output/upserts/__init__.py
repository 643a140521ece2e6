"""Answers of which there is one for each key at any time: what tells them apart, and what of a
micro-batch's changes is left of each.

Takes running queries and their answers; sinks that replace rows by key (Kafka, tables) ask it.
Doors: `find_answer_key`, `reduce_changes`.
"""
