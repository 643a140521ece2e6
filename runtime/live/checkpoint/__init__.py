"""runtime/live/checkpoint"""
