"""Model => System: tables, rows, colliders, the spanning tree, orders of elimination, subsystems."""
