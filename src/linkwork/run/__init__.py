"""Running a model: steps, samples, callbacks, stop conditions, state on disk."""
