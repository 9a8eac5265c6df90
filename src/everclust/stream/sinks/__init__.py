"""Where predictions and events go."""
