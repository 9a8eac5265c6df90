"""Write results for other programs."""
