"""Default sizes, in a module that imports nothing: the command line shows them in its help."""

BLOCK = 1_000  # rows that are learnt, and then answered, together
EVERY = 10_000  # rows between two checkpoints
