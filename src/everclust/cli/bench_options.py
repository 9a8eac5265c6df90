"""The options of `everclust bench run`, in groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from typer import Option

from ..benchmark.run.plan import PAPER_SEEDS, PAPER_SHUFFLES
from ..benchmark.run.tuning import LIMIT_SECONDS, TRIALS


@dataclass
class Wanted:
    """What is to be run."""

    algorithms: Annotated[list[str], Option(help="Names, all, ablation or extensions.")] = field(
        default_factory=lambda: ["all"]
    )
    datasets: Annotated[list[str], Option(help="Names, or all.")] = field(default_factory=lambda: ["all"])
    settings: Annotated[list[str], Option(help="stationary, nonstationary or both.")] = field(
        default_factory=lambda: ["both"]
    )
    seeds: Annotated[int, Option(help="Runs, with seeds from 1 on.")] = PAPER_SEEDS
    shuffles: Annotated[int, Option(min=0, help="Other orders within two classes to try.")] = 0
    paper: Annotated[bool, Option("--paper", help="Everything, as the paper has it.")] = False

    def in_full(self) -> Wanted:
        """With what the paper has, if that is wanted."""
        if not self.paper:
            return self
        return replace(
            self,
            algorithms=["all", "ablation", "extensions"],
            datasets=["all"],
            settings=["both"],
            seeds=PAPER_SEEDS,
            shuffles=PAPER_SHUFFLES,
        )


@dataclass
class Tuning:
    """How parameters are found."""

    trials: Annotated[int, Option(min=1, help="Trials for algorithms that must be tuned.")] = TRIALS
    search_limit: Annotated[float, Option(help="Seconds for the trials per data set.")] = LIMIT_SECONDS
    as_in_paper: Annotated[
        bool, Option("--as-in-paper", help="Take the paper's parameters where they are known.")
    ] = False


@dataclass
class Effort:
    """What jobs may take."""

    jobs: Annotated[int, Option(help="Processes, -1 for one per core.")] = -1
    limit: Annotated[float | None, Option(min=0, help="Seconds that a job may take.")] = None
    memory: Annotated[float | None, Option(min=0, help="GiB that a job may take.")] = None
    retry: Annotated[bool, Option("--retry", help="Run again what was not successful.")] = False

    def bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else int(self.memory * 2**30)
