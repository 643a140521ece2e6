"""runtime/live/output"""
