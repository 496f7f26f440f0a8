"""A compiled mechanism in NumPy: poses, loops, starts, freedoms, joints that come and go."""
