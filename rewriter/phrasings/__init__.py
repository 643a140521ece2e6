"""Other words of SQL for what is read elsewhere: dialects have several phrasings of one thing.

Takes SQL as it is written, makes SQL of the words that are read. Door: `settle_phrasings`.
"""
