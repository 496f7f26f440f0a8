"""Random mechanisms, and what must hold for them."""
