"""The one public address of the project, and every link that follows from it.

    REPOSITORY  ->  first cells, launch buttons, edit and issue links, CITATION; empty: none of them

Set it here, run `make lessons`, commit what changed. While it is empty, nobody names an address,
and the first cell of a notebook says what to do.
"""

import re

__all__ = ["BOOK", "BRANCH", "REPOSITORY", "citation", "colab", "edit", "install", "issues"]

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
