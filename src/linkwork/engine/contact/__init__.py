"""Contact between convex shapes: where two of them are, or nearly are, in each other's way."""
