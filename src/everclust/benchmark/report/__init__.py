"""The report: our results beside the published numbers."""
