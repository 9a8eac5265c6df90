"""Sentinels and sizes that several rules share."""

NONE = -1  # an index that names nothing
NEVER = 2**62  # a sample that does not come, or a birth that no node has
NO_CLUSTER = -1  # id of what is in no cluster
SEED_NODES = 3  # so many samples become nodes unconditionally

# scalars.n_changed: how many slots are listed whose component this sample has changed, or:
NONE_CHANGED, ALL_CHANGED = 0, 2**62

NOT_CENTRED = 2**62  # scalars.n_coarse_misses of a coarse copy that was never made
