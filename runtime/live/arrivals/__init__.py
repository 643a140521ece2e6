"""runtime/live/arrivals"""
