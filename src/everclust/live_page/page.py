"""`everclust.live`: a page that shows a model while it learns."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from ..estimators.incremental import IncrementalClusterer
from .control import Control
from .server import PageServer, new_token
from .watcher import Watcher

NOTEBOOK_HEIGHT = 720  # pixels


class LivePage:
    """A page that is being served. A notebook shows it inline.

    Attributes
    ----------
    url : str
        URL of the page, with the token if it needs one.
    """

    def __init__(self, control: Control, title: str, host: str, port: int) -> None:
        token = new_token(host)
        self.control = control
        self.server = PageServer(control, title, host, port, token)
        name = "127.0.0.1" if host in ("", "0.0.0.0") else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.server.port}/" + (f"?token={token}" if token else "")
        control.watcher.start()
        self.server.serve_in_thread()

    def stop(self) -> None:
        """Stop serving and notify the viewers. The model is not touched."""
        self.server.stop()

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="{NOTEBOOK_HEIGHT}" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<LivePage at {self.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def live(model: IncrementalClusterer, *, host: str = "127.0.0.1", port: int = 0) -> LivePage:
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
        part of its `url`.
    port : int, default=0
        Port to listen on; 0 takes a free one.

    Returns
    -------
    page : LivePage
        Open its `url` in any browser; a notebook shows it inline. `stop()` ends it.

    Examples
    --------
    >>> import everclust
    >>> model = everclust.EverClust()
    >>> page = everclust.live(model)
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.stop()
    """

    def names() -> Sequence[str] | None:
        found = getattr(model, "feature_names_in_", None)
        return None if found is None else [str(name) for name in found]

    return LivePage(Control(Watcher(model, names)), type(model).__name__, host, port)
