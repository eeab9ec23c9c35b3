"""The one public address of the project, and every link that follows from it.

    REPOSITORY  ->  first cells, launch buttons, edit and issue links, CITATION,
                   pyproject; empty: none of them

Set it here, run `make lessons`, commit what changed. While it is empty, nobody names an address,
and the first cell of a notebook says what to do.
"""

import re

__all__ = ["BOOK", "BRANCH", "REPOSITORY", "citation", "colab", "edit", "install", "issues",
           "urls"]  # fmt: skip

REPOSITORY = ""  # "https://github.com/OWNER/NAME", without a slash at its end
BRANCH = "main"
BOOK = ""  # where the built book is read, with a slash at its end; only the social card asks


def install(repository: str) -> str:
    """What pip takes to install the library from the repository.

    >>> install("https://github.com/owner/name")
    'git+https://github.com/owner/name'
    """
    return f"git+{repository}" if repository else ""


def colab(repository: str, notebook: str) -> str:
    """The page that opens a student's notebook in Colab; empty where Colab cannot fetch it.

    >>> colab("https://github.com/owner/name", "lessons/02_padding/padding.ipynb")
    'https://colab.research.google.com/github/owner/name/blob/main/lessons/02_padding/padding.ipynb'
    """
    owner = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", repository)
    return (
        f"https://colab.research.google.com/github/{owner[1]}/blob/{BRANCH}/{notebook}"
        if owner
        else ""
    )


def edit(repository: str, source: str) -> str:
    """The page on which a source can be changed."""
    return f"{repository}/edit/{BRANCH}/{source}" if repository else ""


def issues(repository: str) -> str:
    """The page on which a mistake can be told."""
    return f"{repository}/issues/new" if repository else ""


def citation(text: str, repository: str) -> str:
    """CITATION.cff with this address, or with none.

    >>> citation("type: software\\n", "https://example.org/b")
    'type: software\\nrepository-code: https://example.org/b\\n'
    """
    text = re.sub(r"^repository-code: .*\n", "", text, flags=re.MULTILINE)
    if not repository:
        return text
    return text.replace("type: software\n", f"type: software\nrepository-code: {repository}\n")


def urls(text: str, repository: str, book: str = "") -> str:
    """pyproject.toml with the links that a package index shows, or with none.

    >>> print(urls("[project.scripts]\\n", "https://example.org/b"))
    [project.urls]
    Source = "https://example.org/b"
    Issues = "https://example.org/b/issues"
    <BLANKLINE>
    [project.scripts]
    <BLANKLINE>
    """
    text = re.sub(r"^\[project\.urls\]\n(?:\w+ = .*\n)+\n", "", text, flags=re.MULTILINE)
    if not repository:
        return text
    links = {"Source": repository, "Issues": f"{repository}/issues"}
    links |= {"Documentation": book} if book else {}
    table = "".join(f'{name} = "{link}"\n' for name, link in links.items())
    return text.replace("[project.scripts]\n", f"[project.urls]\n{table}\n[project.scripts]\n", 1)
