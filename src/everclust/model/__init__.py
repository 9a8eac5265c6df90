"""A state with a lock, identities and a file format; imports no scikit-learn."""
