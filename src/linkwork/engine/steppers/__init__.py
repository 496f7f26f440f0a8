"""Formulations: coordinates times solver, one short file each."""
