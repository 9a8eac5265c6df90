"""What the runs say, beside the published numbers."""
