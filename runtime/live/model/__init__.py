"""runtime/live/model"""
