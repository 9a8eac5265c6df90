"""How much the benchmark runs by default, in a module that imports nothing: the command line shows it."""

PAPER_SEEDS = 30
PAPER_SHUFFLES = 4  # not the paper's: see `plan`
TRIALS = 25
LIMIT_SECONDS = 12 * 3600.0
