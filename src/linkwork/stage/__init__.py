"""What there is to see of a model: bodies and scenery as pieces and meshes, and how large they are."""
