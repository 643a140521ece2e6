"""RSP-QL and C-SPARQL: `FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]`, `FROM STREAM <s> […]`.

A window is written as the SPARQL that is read: each triple pattern in a GRAPH of its own, whose
time is in the window, so that patterns of one window need not share a timestamp. Tokens stay on
their lines. Door: `translate_rsp`, `asks_windows`.
"""
