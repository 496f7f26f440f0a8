"""Solvers: they see rows and responses, never a joint."""
