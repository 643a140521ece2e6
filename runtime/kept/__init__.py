"""Rows that are kept from batch to batch, of which a batch looks up and replaces a few.

Takes a frame of rows; gives those that are equal to others in some columns, or are due, and the
rows after some are replaced, in time that follows these.
Door: `kept_rows`.
"""
