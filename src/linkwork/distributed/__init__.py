"""Mechanisms in several processes: lines between them, starting them, sealed components and their server.

This package moves numbers and knows no physics; what is said over a line is the business of `session`.
"""
