"""What a state shows: named values, energies, reactions."""
