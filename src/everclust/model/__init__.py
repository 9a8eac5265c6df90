"""A state with a lock, identities and a file format; knows no scikit-learn."""
