"""Studies of a model: doctor, inverse dynamics, statics, comparison, partition."""
