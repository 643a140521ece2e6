"""runtime/sources"""
