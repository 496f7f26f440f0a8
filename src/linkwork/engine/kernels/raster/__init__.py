"""Pictures without a display: triangles and lines into a depth buffer, shadows on a floor, and the final image.

Everything is sampled twice as finely as the image in both directions; `image.develop` takes the mean of four samples.
Colours are linear in light, with the square root as the curve of displays: close to sRGB, and twenty times as fast as
a power. Depths are 1/distance along the view, so that they are linear in the picture and zero is infinitely far.
"""
