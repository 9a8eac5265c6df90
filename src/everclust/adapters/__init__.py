"""EverClust inside other frameworks. Each module needs an extra of its own."""
