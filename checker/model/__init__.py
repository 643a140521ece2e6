"""checker/model"""
