"""The paper's data sets: catalogue, download and loading."""
