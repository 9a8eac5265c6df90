"""`everclust.live`: a page that shows a model while it learns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from ..estimators.clusterer import Clusterer
from .access import is_local
from .control import Control
from .notebook import frame_html
from .server import TOKEN_VARIABLE, PageServer, token_for
from .watcher import Watcher


class LivePage:
    """A page that is being served. A notebook shows it inline.

    Attributes
    ----------
    url : str
        URL of the page, with the token if it needs one.
    shown : str
        The same without a token of your own, from the environment, which no log should hold.
    """

    def __init__(
        self, control: Control, title: str, host: str, port: int, view_only: bool | None = None
    ) -> None:
        token = token_for(host)
        self.control = control
        view_only = not is_local(host) if view_only is None else view_only
        self.server = PageServer(control, title, (host, port), token, view_only)
        name = "127.0.0.1" if host in ("", "0.0.0.0") else f"[{host}]" if ":" in host else host
        address = f"http://{name}:{self.server.port}/"
        self._query = f"?token={token}" if token else ""
        self.url = address + self._query
        self.shown = address if os.environ.get(TOKEN_VARIABLE) else self.url
        control.watcher.start()
        self.server.serve_in_thread()

    def stop(self) -> None:
        """Stop serving and notify the viewers. The model is not touched."""
        self.server.stop()

    def _repr_html_(self) -> str:
        return frame_html(self.url, self.server.port, self._query)

    def __repr__(self) -> str:
        return f"<LivePage at {self.shown}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def live(
    model: Clusterer, *, host: str = "127.0.0.1", port: int = 0, view_only: bool | None = None
) -> LivePage:
    """Show a model in the browser while it learns.

    The page copies the model between two batches; the model does not wait for viewers. Feed the model
    with `everclust.learn`, or with `partial_fit` in batches that take some tens of milliseconds; the page
    shows a `fit` when it is done. Pausing the page pauses the view, not the model.

    Parameters
    ----------
    model : EverClust or IDAT
        A fitted model or a new one.
    host : str, default="127.0.0.1"
        Address to listen on. With any other than this machine's own, the page asks for a token, which is
        part of its `url`. The environment variable EVERCLUST_TOKEN sets one that stays the same.
    port : int, default=0
        Port to listen on; 0 takes a free one.
    view_only : bool, optional
        Whether viewers can only look. By default they can pause the view only on this machine's own address.

    Returns
    -------
    page : LivePage
        Open its `url` in any browser; `stop()` ends it. Notebooks show it inline, those of a JupyterHub
        through `jupyter-server-proxy`, which must be installed there.

    Examples
    --------
    >>> import everclust
    >>> model = everclust.EverClust()
    >>> page = everclust.live(model)
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.stop()
    """

    if not isinstance(model, Clusterer):
        raise TypeError(
            f"everclust.live shows an EverClust or IDAT model, but it got {type(model).__name__}; of a "
            "pipeline, give the last step."
        )

    def names() -> Sequence[str] | None:
        found = getattr(model, "feature_names_in_", None)
        return None if found is None else [str(name) for name in found]

    return LivePage(Control(Watcher(model, names)), model._title, host, port, view_only)
