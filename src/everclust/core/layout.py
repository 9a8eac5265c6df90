"""Sentinels and sizes that several rules share."""

NONE = -1  # an index that names nothing
NEVER = 2**62  # a sample that does not come, or a birth that no node has
NO_CLUSTER = -1  # id of what is in no cluster
SEED_NODES = 3  # so many samples become nodes unconditionally

# scalars.n_changed: how many slots are listed whose component this sample has changed, or:
NONE_CHANGED, ALL_CHANGED = 0, 2**62

# What a learner watches for while it learns: the entries of the array `watch`.
NEXT_PAUSE = 0  # the sample to pause at
FIRST_YOUNG = 1  # newcomers are nodes from this birth on
FOUND_AT = 2  # the sample at which newcomers were found
FEWEST = 3  # samples that newcomers have won

N_PROBES = 32  # samples that later ones are compared with: see probes.py
LONGEST_REST = 7  # as many times as long as the comparison: in the end one in eight samples is compared
N_BINS = 128  # of distances to them
NO_EXPONENT = 2**62  # scalars.first_exponent before any distance was counted

N_DIRECTIONS = 8  # in which the variance of the stream is measured: see correlation.py

SPACING = 2.0**-23  # of float32: twice the largest relative rounding error
NOT_CENTRED = 2**62  # scalars.n_coarse_misses of a coarse copy that was never made
