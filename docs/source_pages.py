"""A hook of the site: source files that pages link to become pages of their own, with the file's text.

In the repository such a link shows the file. The site has no repository to link to, so it includes the file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LINK = re.compile(r"\]\((?!\w+://)([^)#\s]+)(#[^)]*)?\)")
LANGUAGES = {".py": "python", ".md": "markdown", ".yaml": "yaml", ".toml": "toml", ".ipynb": "json"}


def source(page: str, target: str) -> Path | None:
    """Returns the source file that a page's relative link leads to, or None for links to pages, pictures and missing files."""
    path = (DOCS / PurePosixPath(page).parent / target).resolve()
    if not path.is_relative_to(ROOT) or (path.is_relative_to(DOCS) and path.suffix != ".py"):
        return None
    path = path / "README.md" if path.is_dir() else path
    return path if path.is_file() else None


def address(path: Path) -> str:
    """Returns the address of a file's page, relative to the site's root."""
    return f"source/{path.relative_to(ROOT).as_posix()}.md"


def on_files(files: Any, config: Any) -> Any:
    """Adds a page for each source file that some page links to."""
    for page in [file for file in files if file.is_documentation_page()]:
        for target, _ in LINK.findall(page.content_string):
            path = source(page.src_uri, target)
            if path is not None and files.get_file_from_path(address(path)) is None:
                name, language = path.relative_to(ROOT).as_posix(), LANGUAGES.get(path.suffix, "text")
                text = f"---\nsearch: {{exclude: true}}\n---\n# `{name}`\n\n````{language}\n{path.read_text()}\n````\n"
                page_of_file = File.generated(config, address(path), content=text)
                page_of_file.inclusion = page_of_file.inclusion.NOT_IN_NAV
                files.append(page_of_file)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Points links to source files at their pages."""

    def repaired(link: re.Match[str]) -> str:
        path = source(page.file.src_uri, link[1])
        if path is None:
            return link[0]
        return f"]({os.path.relpath(address(path), PurePosixPath(page.file.src_uri).parent)})"

    return LINK.sub(repaired, markdown)
