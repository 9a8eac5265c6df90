"""One model per key: a set of models, their files, and rows by key."""
