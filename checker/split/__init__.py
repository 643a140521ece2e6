"""checker/split"""
