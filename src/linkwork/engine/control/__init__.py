"""The control diagram, compiled: one interpreter for every tape."""
