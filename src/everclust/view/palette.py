"""A fixed colour for every cluster id; colours differ as much as possible."""

from functools import cache

import numpy as np

N_COLOURS = 120  # then they repeat
GREY = (0.62, 0.62, 0.62)  # nodes in no cluster

# The first colours work in print and for colour-blind readers (Okabe & Ito, without yellow and black); the
# others are computed.
_FIRST = ("0072b2", "e69f00", "009e73", "d55e00", "cc79a7", "56b4e9")
# How a dichromat sees linear RGB (Machado, Oliveira & Fernandes 2009): deuteranopia, protanopia.
_DICHROMATS = (
    np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
)
# OKLab (Ottosson 2020)
_LMS = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])


def colours_of(labels: np.ndarray) -> np.ndarray:
    """RGB colour of each label, shape (n, 3); it depends only on the label."""
    return _palette()[np.asarray(labels, dtype=np.int64) % N_COLOURS]


def paler(colours: np.ndarray, share: float) -> np.ndarray:
    """The colours mixed with a share of white."""
    return (1.0 - share) * np.asarray(colours) + share


@cache
def _palette() -> np.ndarray:
    """The first colours, then always the candidate farthest from all before (farthest-point sampling)."""
    first = np.array([[int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)] for code in _FIRST])
    pool = np.concatenate([first, _candidates()])
    seen = [_oklab(_linear(pool)), *(_oklab(_linear(pool) @ eye.T) for eye in _DICHROMATS)]
    chosen = list(range(len(first)))
    distance = np.min([_distance(seen, k) for k in chosen], axis=0)
    while len(chosen) < N_COLOURS:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, _distance(seen, chosen[-1]))
    return pool[chosen]


def _distance(seen: list[np.ndarray], k: int) -> np.ndarray:
    """Distances from colour k: in normal vision, plus half the smaller one of two dichromats."""
    normal, *others = (np.linalg.norm(lab - lab[k], axis=1) for lab in seen)
    return np.asarray(normal + 0.5 * np.minimum(*others))


def _candidates() -> np.ndarray:
    """A grid of colours that stand out from white, black and grey."""
    axis = np.linspace(0.0, 1.0, 18)
    rgb = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    lab = _oklab(_linear(rgb))
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    return rgb[(lab[:, 0] > 0.35) & (lab[:, 0] < 0.82) & (chroma > 0.08) & (chroma < 0.22)]


def _linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _oklab(linear: np.ndarray) -> np.ndarray:
    return np.cbrt(linear @ _LMS.T) @ _LAB.T
