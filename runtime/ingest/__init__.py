"""runtime/ingest"""
