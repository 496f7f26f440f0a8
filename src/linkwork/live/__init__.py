"""A model in real time with everything that an operator can do to it; knows nothing of how it is shown."""
