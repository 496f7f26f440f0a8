"""Many simulations of one model: sweeps, random samples, sensitivities, optimisation, identification."""
