"""What a record does with its numbers: interpolation, files, exchange with other tools, plots."""
