"""Handling tyres: their contact with the road, laws of slip, and the functions that rows call by address."""
