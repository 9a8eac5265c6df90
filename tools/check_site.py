"""Check a built site: links and anchors lead somewhere, and pages load nothing from elsewhere.

python tools/check_site.py build/site
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("link", "href"),
    ("image", "href"),
    ("use", "href"),
}
IN_STYLES = re.compile(r"""(?:url\(|@import\s*)\s*["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what a browser loads to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: set[str] = set()
        self.loaded: set[str] = set(IN_STYLES.findall(text))
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Remember what a tag names, links to or loads."""
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADED:
                self.loaded.add(value)
            elif tag == "a" and name == "href":
                self.links.add(value)


def faults(site: Path) -> list[str]:
    """What is wrong with a site, one sentence for each fault."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found = [f"{site} has no pages."] if not pages else []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name} loads {url} from elsewhere." for url in sorted(page.loaded) if is_elsewhere(url)]
        for url in sorted(page.links | page.loaded):
            fault = "" if urlsplit(url).scheme or is_elsewhere(url) else broken(url, path, site, pages)
            found += [f"{name} leads to {url}, {fault}."] if fault else []
    for path in sorted(site.rglob("*.css")):
        urls = sorted(set(IN_STYLES.findall(path.read_text())))
        found += [f"{path.relative_to(site)} loads {url} from elsewhere." for url in urls]
    return found


def is_elsewhere(url: str) -> bool:
    """Whether a browser would ask another server."""
    return url.startswith("//") or urlsplit(url).scheme in ("http", "https", "ftp")


def broken(url: str, path: Path, site: Path, pages: dict[Path, Page]) -> str:
    """Why a link within the site leads nowhere; empty if it leads somewhere."""
    parts = urlsplit(url)
    target = path
    if parts.path:
        folder = site if parts.path.startswith("/") else path.parent
        target = (folder / unquote(parts.path).lstrip("/")).resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return "which does not exist"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "which has no such anchor"
    return ""


def main(site: Path) -> int:
    """Print every fault; 1 if there are some."""
    found = faults(site)
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    n_pages = len(list(site.rglob("*.html")))
    sys.stdout.write(f"{n_pages} pages, {len(found)} faults\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
