"""runtime/results"""
