"""What surrounds the text of a page: its title, buttons, scripts, and what never leaves the house.

    page, the address of the project  ->  head, start line, buttons that lead somewhere

A lesson's buttons give the student's notebook; its source, which holds the answers, is not copied.
Scripts that are of no use here (a kernel on another host, 500 KiB of icons) stay out; formulas
and figures come when a reader nears them.
"""

import base64
import hashlib
import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.i18n import format_date

import batchlab
from batchlab.authoring import address, catalogue, prose

__all__ = ["setup"]

# scripts by a part of their name; page.js fetches MathJax, 320 KiB with its fonts
UNUSED = ("thebe", "design-tabs", "togglebutton", "mathjax/")
FORMULAS = "MathJax"  # its settings, for pages with formulas
DROPPED = ("**/*.map", "vendor/fontawesome", "mathjax/*svg*.js", "mathjax/*full*.js",
           "mathjax/*mml*.js", "mathjax/node-main.js", "mathjax/core.js")  # fmt: skip
MADE = ("genindex", "py-modindex", "search", "_static/webpack-macros", "_static/sbt-webpack-macros")
FACE = re.compile(r"@font-face\s*\{[^}]*?(?:Font ?Awesome|fontawesome)[^}]*\}")
ICONS = "// Icons are drawn by page.css: the theme's file for them weighs 500 KiB.\n"
INLINE = re.compile(r'<img src="data:image/png;base64,([^"]+)" width="(\d+)"')
INDEX = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>'
)
DESCRIPTION = (
    "Batch size in LLM training, measured: a Jupyter course with graded exercises, and a library "
    "that says where the time of a training went."
)


def describe(app: Sphinx, page: str, _template: str, context: dict, _tree: object) -> None:
    """Title, description, buttons and scripts of one page."""
    known = _lessons(app).get(page)
    said = f"{known.question} {known.title}." if known else DESCRIPTION
    if page == app.config.root_doc:
        context["docstitle"] = ""  # it would stand twice
    title = known.title if known else context.get("title", "")
    card = address.BOOK and f"{address.BOOK}_static/card.png"
    tags = {"og:type": "website", "og:site_name": app.config.html_title, "og:title": title,
            "og:description": said, "og:image": card}  # fmt: skip
    lines = [f'<meta name="description" content="{escape(said)}">']
    lines += [f'<meta property="{k}" content="{escape(v)}">' for k, v in tags.items() if v]
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)
    body = _in_files(_mended(context.get("body", "")), Path(app.outdir) / "_images", page)
    context["body"] = body
    unused = UNUSED if 'class="math' in body else (*UNUSED, FORMULAS)
    context["script_files"] = [
        file
        for file in context.get("script_files", [])
        if not any(name in _told(file) for name in unused)
    ]
    context["header_buttons"] = _buttons(Path(app.config.batchlab_root), page, known, context)


def _in_files(body: str, folder: Path, page: str) -> str:
    """Figures as files of their own, which a browser fetches where a reader comes near."""

    def moved(found: re.Match[str]) -> str:
        data, width = base64.b64decode(found[1]), int(found[2])
        across, down = (int.from_bytes(data[at : at + 4]) for at in (16, 20))  # of a PNG's head
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.png"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        place = f"{'../' * page.count('/')}_images/{name}"
        height = round(width * down / across)
        return (
            f'<img src="{place}" loading="lazy" data-density="{across / width:g}" '
            f'width="{width}" height="{height}"'
        )

    return INLINE.sub(moved, body)


def _told(file: object) -> str:
    """Name and text of a script."""
    return f"{file} {getattr(file, 'filename', '')} {getattr(file, 'attributes', '')}"


def _mended(body: str) -> str:
    """Without roles that Sphinx gives to references and no reader of screens knows."""
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    body = body.replace(' role="doc-biblioentry"', "")
    return body.replace('<th class="head"><p></p></th>', "<td></td>")


def _source(root: Path, page: str, known: catalogue.Lesson | None) -> str:
    """The file that a reader would edit; empty for a page that is collected from many."""
    if known:
        return f"solutions/{known.folder}/{known.topic}.md"
    wrong, name = page.startswith("matrix/"), Path(page).name
    own = "intro" if page == "index" else page
    topic = name.partition("_")[2]
    source = f"batchlab/exercises/{topic}/__init__.py" if wrong else f"book/{own}.md"
    return source if (root / source).is_file() else ""


def _buttons(root: Path, page: str, known: catalogue.Lesson | None, context: dict) -> list[dict]:
    """Print, full screen and search as the theme has them; the notebook, edit and issue links."""
    kept = [b for b in context.get("header_buttons", []) if b.get("label") != "download-buttons"]
    made = [_button(f"{Path(page).name}.ipynb", "Download the notebook", "fa-download")] * bool(
        known
    )
    printing = {
        "type": "javascript",
        "javascript": "window.print()",
        "text": "",
        "tooltip": "Print this page",
        "icon": "fas fa-file-pdf",
        "label": "print-button",
    }
    source = _source(root, page, known)
    edit = address.edit(address.REPOSITORY, source) if source else ""
    links = {
        "Edit this page": (edit, "fa-pencil"),
        "Tell of a mistake": (address.issues(address.REPOSITORY), "fa-lightbulb"),
    }
    made += [_button(url, name, icon) for name, (url, icon) in links.items() if url]
    return [*made, printing, *kept]


def _button(url: str, name: str, icon: str) -> dict:
    label = name.lower().replace(" ", "-")
    return {"type": "link", "url": url, "text": "", "tooltip": name, "icon": f"fas {icon}",
            "label": label}  # fmt: skip


class StartLine(SphinxPostTransform):
    """Under a title. Of the book: who, which version, when. Of a lesson: links, and progress."""

    default_priority = 30

    def run(self, **_: object) -> None:
        known = _lessons(self.app).get(self.env.docname)
        if self.env.docname == self.config.root_doc:
            self._under_title(self._byline())
        if known is None:
            return
        name = Path(self.env.docname).name
        links = [f'<a class="bl-button" href="{name}.ipynb" download>Download the notebook</a>']
        if hosted := address.colab(address.REPOSITORY, known.notebook):
            links.append(f'<a class="bl-button" href="{escape(hosted)}">Open in Colab</a>')
        line = f'<p class="bl-start">{" ".join(links)} <span data-progress="{name[:2]}"></span></p>'
        self._under_title(line)

    def _byline(self) -> str:
        who = self.config.author[0].upper() + self.config.author[1:]
        day = format_date("%-d %B %Y", language=self.config.language)
        return f'<p class="bl-byline">{escape(who)}. Version {batchlab.__version__}, {day}.</p>'

    def _under_title(self, line: str) -> None:
        title = next(iter(self.document.findall(nodes.title)))
        title.parent.insert(1, nodes.raw("", line, format="html"))


def deliver(app: Sphinx, failure: Exception | None) -> None:
    """Student notebooks beside the pages; without icons, maps and bundles that nobody asks for."""
    if failure or app.builder.name != "html":
        return
    root, out = Path(app.config.batchlab_root), Path(app.outdir)
    for page, known in _lessons(app).items():
        shutil.copyfile(root / known.notebook, out / f"{page}.ipynb")
    shutil.rmtree(out / "_sources", ignore_errors=True)
    pages = {*app.env.found_docs, *MADE}
    for path in out.rglob("*.html"):  # of an older edition
        if path.relative_to(out).with_suffix("").as_posix() not in pages:
            path.unlink()
    for name in pages - {"search"}:  # the index of all words serves where one searches
        if (path := out / f"{name}.html").is_file():
            text = path.read_text(encoding="utf-8")
            path.write_text(INDEX.sub("", text), encoding="utf-8")
    static = out / "_static"
    for pattern in DROPPED:
        for path in list(static.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for sheet in static.glob("styles/*.css"):  # no rule may ask for a font that is not there
        sheet.write_text(FACE.sub("", sheet.read_text(encoding="utf-8")), encoding="utf-8")
    (static / "scripts/fontawesome.js").write_text(ICONS)


def _lessons(app: Sphinx) -> dict[str, catalogue.Lesson]:
    root = Path(app.config.batchlab_root)
    return {f"lessons/{one.folder}": one for one in catalogue.lessons(root)}


class AuthorYear(BaseLabelStyle):
    """Labels of the list of references as the text cites: Krell et al., 2021."""

    def format_labels(self, entries: list) -> list[str]:
        known = prose.citations(self.references)
        return [", ".join(known[entry.key][:2]) for entry in entries]


class AsCited(Style):
    """The plain style, with these labels."""

    default_label_style = AuthorYear


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's door."""
    AuthorYear.references = Path(app.srcdir) / "references.bib"
    register_plugin("pybtex.style.formatting", "as_cited", AsCited)
    app.add_post_transform(StartLine)
    app.connect("html-page-context", describe, priority=900)
    app.connect("build-finished", deliver, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
