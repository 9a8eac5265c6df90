"""How a notebook shows the live page: in a frame, on a JupyterHub through its proxy."""

from __future__ import annotations

import os
from html import escape

HEIGHT = 720  # pixels


def hub_prefix() -> str | None:
    """Path under which a JupyterHub serves this user's notebooks, or None without a hub."""
    return os.environ.get("JUPYTERHUB_SERVICE_PREFIX") or None


def frame_html(url: str, port: int, query: str) -> str:
    """The page in a frame, and what to do where it stays blank."""
    prefix = hub_prefix()
    if prefix is None:
        source = url
        hint = (
            f'Nothing to see? Open <a href="{escape(url)}" target="_blank">{escape(url)}</a>. If the '
            f"notebook runs on another machine, forward the port first: <code>ssh -L {port}:127.0.0.1:{port} "
            "that-machine</code>, or the <i>Ports</i> view of VS Code."
        )
    else:
        source = f"{prefix.rstrip('/')}/proxy/{port}/{query}"
        hint = (
            "Nothing to see? The page comes through jupyter-server-proxy: "
            "<code>pip install jupyter-server-proxy</code>, then restart your server from the hub's control "
            "panel."
        )
    return (
        f'<iframe src="{escape(source)}" width="100%" height="{HEIGHT}" style="border:0" '
        f'title="everclust"></iframe><p><small>{hint}</small></p>'
    )
