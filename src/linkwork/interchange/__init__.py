"""Models from other programs, and back: what was taken, mapped, approximated and dropped is told.

Names are imported from its modules, so that knowing a file by its ending brings neither readers nor compiler along.
"""
