"""What MkDocs does not do by itself for the documentation site (mkdocs.yml).

Pages link to files outside docs/, as they do on GitHub: each such file becomes a page of the site. Figures
come from build/, where `make docs` draws them. Pages include files, and tables of other pages by the
beginning of their first line: `<!-- file examples/demo.py -->`, `<!-- table README.md "| | is told |" -->`.
`<!-- gallery -->` stands for all scripts of examples/gallery, each under its picture.
"""

import ast
import posixpath
import re
import textwrap
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = ROOT / "build"
GALLERY = ROOT / "examples" / "gallery"
MARK = "src/everclust/live_page/static/mark.svg"

LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
FENCE = re.compile(r"^( *````?\w.*?^ *````?$)", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"<!-- file (\S+) -->")
TABLE = re.compile(r'<!-- table (\S+) "(.*?)" -->')
CELL = "# %%\n"
LANGUAGES = {".py": "python", ".yml": "yaml", ".json": "json", ".toml": "toml", ".service": "ini"}


def on_files(files: Files, config) -> Files:
    """Add the mark, the figures, and every file outside docs/ to which a page leads."""
    files.append(File.generated(config, "assets/mark.svg", abs_src_path=str(ROOT / MARK)))
    for folder in ("figures", "gallery", "notebooks"):
        for path in sorted((BUILT / folder).glob("*.*")):
            files.append(File.generated(config, f"{folder}/{path.name}", abs_src_path=str(path)))
    pages = [(f"docs/{file.src_uri}", file.content_string) for file in files if file.src_uri.endswith(".md")]
    for source in outside(pages):
        files.append(File.generated(config, page_of(source), content=content_of(source)))
    return files


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Lead links to files outside docs/ to their pages, and include tables of other pages."""
    source = source_of(page.file.src_uri)
    markdown = TABLE.sub(lambda match: table(match[1], match[2]), markdown)
    markdown = markdown.replace("<!-- gallery -->", gallery())
    markdown = INCLUDED.sub(lambda match: block(match[1]), markdown)
    return outside_fences(markdown, lambda text: LINK.sub(lambda link: relink(link[1], source), text))


def outside(pages: list[tuple[str, str]]) -> list[str]:
    """Paths outside docs/ to which pages lead, and to which those lead in turn."""
    found: list[str] = []
    while pages:
        source, markdown = pages.pop()
        for link in links(markdown):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
            if target.startswith("docs/") or target in found:
                continue
            if not (ROOT / target).exists():
                raise PluginError(f"{source} leads to {link}, which does not exist.")
            found.append(target)
            if target.endswith(".md"):
                pages.append((target, (ROOT / target).read_text()))
    return sorted(found)


def links(markdown: str) -> list[str]:
    """What the text of a page leads to, code left out."""
    return LINK.findall(FENCE.sub("", markdown))


def outside_fences(markdown: str, change) -> str:
    """Change a text, but not its code."""
    parts = FENCE.split(markdown)
    return "".join(part if FENCE.fullmatch(part) else change(part) for part in parts)


def relink(link: str, source: str) -> str:
    """The link from the page of a source to the page of its target."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    return posixpath.relpath(page_of(target), posixpath.dirname(page_of(source)) or ".")


def page_of(source: str) -> str:
    """The page of a file of the repository."""
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    source = source.removesuffix("/README.md")  # which MkDocs would take for the first page of a section
    return f"source/{source.removesuffix('.md')}.md"


def source_of(page: str) -> str:
    """The file of the repository that a page shows."""
    if not page.startswith("source/"):
        return f"docs/{page}"
    stem = page.removeprefix("source/").removesuffix(".md")
    return next(name for name in (f"{stem}.md", f"{stem}/README.md", stem) if (ROOT / name).exists())


def content_of(source: str) -> str:
    """The page that shows a file, or all files of a folder."""
    path = ROOT / source
    if source.endswith(".md"):
        return path.read_text()
    paths = sorted(part for part in path.iterdir() if part.is_file()) if path.is_dir() else [path]
    blocks = [block(str(part.relative_to(ROOT))) for part in paths]
    return f"# {source}\n\n" + "\n\n".join(blocks)


def block(source: str) -> str:
    """A file as a block of code, under its name."""
    path = ROOT / source
    if not path.is_file():
        raise PluginError(f"{source}, which a page includes, does not exist.")
    return fence(source, path.read_text())


def fence(source: str, code: str) -> str:
    """Code as a block, under the name of the file it is from."""
    language = LANGUAGES.get(posixpath.splitext(source)[1], "text")
    return f'````{language} title="{source}"\n{code.strip()}\n````'


def gallery() -> str:
    """Every script of the gallery: its docstring, which begins with a title, its picture and its code."""
    return "\n\n".join(map(exhibit, sorted(GALLERY.glob("*.py"))))


def exhibit(path: Path) -> str:
    """One script of the gallery."""
    title, _, text = (ast.get_docstring(ast.parse(path.read_text())) or path.stem).partition("\n")
    cells = path.read_text().split(CELL)[1:]  # without the docstring, which stands above
    code = textwrap.indent(fence(path.relative_to(ROOT).as_posix(), "".join(cells)), "    ")
    picture = f"![{title.lstrip('# ')}](gallery/{path.stem}.png)"
    text = f"{text} [Notebook](notebooks/{path.stem}.ipynb)"
    return f'## {title.lstrip("# ")}\n\n{text}\n\n{picture}\n\n??? example "The code"\n\n{code}'


def table(source: str, header: str) -> str:
    """The table of a page whose first line begins with a header."""
    lines = (ROOT / source).read_text().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith(header)]
    if len(starts) != 1:
        raise PluginError(
            f"{source} has {len(starts)} tables that begin with {header!r}, but one was expected."
        )
    end = next(i for i in range(starts[0], len(lines) + 1) if i == len(lines) or not lines[i].startswith("|"))
    return "\n".join(lines[starts[0] : end])
