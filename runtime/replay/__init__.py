"""runtime/replay"""
