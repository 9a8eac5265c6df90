"""The paper's data sets: where they come from and what they hold."""
