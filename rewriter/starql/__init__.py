"""STARQL: `FROM STREAM s [NOW-d, NOW]->d`, `SEQUENCE BY StdSeq`, `HAVING EXISTS i, j IN SEQ (…)`.

It is written as the SPARQL that is read: a state is `GRAPH ?t`, a window is FILTERs of NOW(), and
FORALL i (IF a THEN b) is FILTER NOT EXISTS of a without b. Takes a text and what a project says
(`rsp.window.Known`), makes an `RspQuery`. Door: `translate_starql`, `asks_sequence`.
"""
