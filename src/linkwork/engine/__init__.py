"""Everything compiled: kernels, coordinates, elements and loads, contact, solvers, steppers."""
