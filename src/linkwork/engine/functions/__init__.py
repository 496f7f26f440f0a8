"""A mechanism's functions of its state, compiled: what `linkwork.Dynamics` offers."""
