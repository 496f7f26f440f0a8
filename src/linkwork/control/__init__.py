"""Control diagrams: blocks, wires, the operator's panel."""
