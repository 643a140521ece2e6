"""runtime/live"""
