"""The options of `everclust bench run`, in groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from typer import Option

from ..benchmark.defaults import LIMIT_SECONDS, PAPER_SEEDS, PAPER_SHUFFLES, TRIALS


@dataclass
class Selection:
    """What to run."""

    algorithms: Annotated[
        list[str], Option(help="Names, or all, ablation, extensions, references, streams.")
    ] = field(default_factory=lambda: ["all"])
    datasets: Annotated[list[str], Option(help="Names, folders of batteries, or all.")] = field(
        default_factory=lambda: ["all"]
    )
    settings: Annotated[list[str], Option(help="stationary, nonstationary or both.")] = field(
        default_factory=lambda: ["both"]
    )
    seeds: Annotated[int, Option(help="Number of runs; their seeds are 1, 2, …")] = PAPER_SEEDS
    shuffles: Annotated[int, Option(min=0, help="Further orders within the classes to try.")] = 0
    paper: Annotated[bool, Option("--paper", help="Everything that the paper compares.")] = False

    def in_full(self) -> Selection:
        """With `--paper`, everything that the paper compares."""
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
    """How parameters are tuned."""

    trials: Annotated[int, Option(min=1, help="Trials per algorithm that needs tuning.")] = TRIALS
    search_limit: Annotated[float, Option(help="Seconds for all trials on a data set.")] = LIMIT_SECONDS
    as_in_paper: Annotated[
        bool, Option("--as-in-paper", help="Use the parameters that the paper prints, where it does.")
    ] = False
    fitted: Annotated[
        bool,
        Option(
            "--fitted", help="Use parameters that we fitted to the paper's counts, else the printed ones."
        ),
    ] = False

    def take(self) -> str:
        """The argument `take` of `everclust.benchmark.run.tuning.tuned`."""
        _check_positive("--search-limit", self.search_limit, "seconds")
        if self.as_in_paper and self.fitted:
            raise ValueError("--as-in-paper and --fitted exclude each other; choose one of them.")
        return "fitted" if self.fitted else "printed" if self.as_in_paper else "searched"


def _check_positive(option: str, value: float | None, unit: str) -> None:
    if value is not None and not value > 0:
        raise ValueError(
            f"{option} is {value:g}, but it must be more than 0 {unit}; leave it out, or raise it."
        )


@dataclass
class Resources:
    """Time, memory and processes of the jobs."""

    jobs: Annotated[int, Option(help="Number of processes; -1 for one per core.")] = -1
    limit: Annotated[float | None, Option(help="Time limit of a job, in seconds.")] = None
    memory: Annotated[float | None, Option(help="Memory limit of a job, in GiB.")] = None
    retry: Annotated[bool, Option("--retry", help="Run failed jobs again.")] = False

    def check(self) -> None:
        """Refuse limits within which nothing can run."""
        _check_positive("--limit", self.limit, "seconds")
        _check_positive("--memory", self.memory, "GiB")

    def bytes(self) -> int | None:
        """The memory in bytes."""
        return None if self.memory is None else int(self.memory * 2**30)
