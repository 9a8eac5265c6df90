"""Hand-over clusters: communities of nodes that hand samples over to each other."""
