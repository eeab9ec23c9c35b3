"""Drawings in a row, one shown at a time: SVG and radio buttons, moved on by arrow keys.

    drawings, a sentence each  ->  Steps: HTML for a notebook and for a page, text for a terminal

A colour has one meaning in all pictures: useful, padding (hatched), waiting, optimizer, sent.
Drawings are 360 units wide, so that 12-unit letters are legible on a phone.
"""

import hashlib
from collections.abc import Sequence
from html import escape

__all__ = ["WIDE", "Drawing", "Steps"]

WIDE = 360
COLOURS = {
    "useful": "#0072B2",
    "other": "#56B4E9",  # useful as well, and beside it
    "waiting": "#D55E00",
    "optimizer": "#009E73",
    "sent": "#E69F00",
    "again": "#CC79A7",  # computed a second time
}
DARK = {"useful", "waiting", "optimizer"}  # letters on it are white
STYLE = """
#{key} {{ max-width: 36rem; margin: 1rem 0; border: 0; }}
#{key} fieldset {{ border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .25rem; }}
#{key} legend {{ padding: 0; margin: 0 0 .3rem; font-size: 1rem; font-weight: 600; }}
#{key} label {{ position: relative; margin: 0; cursor: pointer; }}
#{key} input {{ position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }}
#{key} span {{ display: block; min-width: 1.9rem; padding: .15rem 0; text-align: center;
  border: 1px solid currentColor; border-radius: 1rem; font-size: .85rem; }}
#{key} input:checked + span {{ background: #0f5c91; color: #fff; border-color: #0f5c91; }}
#{key} input:focus-visible + span {{ outline: 3px solid #2f8fd0; outline-offset: 2px; }}
#{key} svg {{ width: 100%; height: auto; display: block; margin: .5rem 0 0; color: inherit; }}
#{key} p {{ margin: .2rem 0 0; min-height: 3em; }}
@supports selector(:has(*)) {{ #{key} .bl-frames > div {{ display: none; }} }}
{shown}
@media print {{ #{key} fieldset label, #{key} .bl-frames > div:not(:last-child) {{ display: none; }}
  #{key} .bl-frames > div:last-child {{ display: block !important; }} }}
"""
SHOWN = (
    "#{key}:has(label:nth-of-type({n}) :checked) .bl-frames > :nth-child({n}) {{ display: block; }}"
)


class Drawing:
    """One drawing, filled from the top; lengths are units of a width of 360."""

    def __init__(self, height: float) -> None:
        self.height = height
        self._parts: list[str] = []

    def box(
        self, x: float, y: float, wide: float, high: float, kind: str = "", words: object = ""
    ) -> None:
        """A rectangle that means something: a name of COLOURS, `padding`, or an empty place."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, wide):.1f}" height="{high:.1f}"'
        if kind == "padding":
            look = 'fill="url(#HATCH)" stroke="currentColor" stroke-width=".7"'
        elif kind:
            look = f'fill="{COLOURS[kind]}" stroke="#fff" stroke-width=".7"'
        else:
            look = 'fill="none" stroke="currentColor" stroke-width=".7" stroke-dasharray="2 2"'
        self._parts.append(f"<rect {place} {look}/>")
        if words != "":
            ink = "#fff" if kind in DARK else "#111" if kind in COLOURS else ""
            self.text(x + wide / 2, y + high / 2 + 4, words, "middle", ink=ink)

    def text(
        self, x: float, y: float, words: object, anchor: str = "start", *, ink: str = ""
    ) -> None:
        """Words, at the left of x, in its middle, or at its `end`."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink or "currentColor"}"'
            f' font-size="12">{escape(str(words))}</text>'
        )

    def line(self, x: float, y: float, to_x: float, to_y: float, *, wide: float = 1) -> None:
        """A straight line."""
        self._parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" '
            f'stroke="currentColor" stroke-width="{wide}"/>'
        )

    def svg(self, told: str, key: str) -> str:
        """The drawing as SVG, which says to who cannot see it what it shows."""
        hatch = (
            f'<pattern id="{key}" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="6" height="6" fill="currentColor" '
            'fill-opacity=".06"/><line x1="0" y1="0" x2="0" y2="6" stroke="currentColor" '
            'stroke-width="1.6" stroke-opacity=".55"/></pattern>'
        )
        inside = "".join(self._parts).replace("url(#HATCH)", f"url(#{key})")
        return (
            f'<svg viewBox="0 0 {WIDE} {self.height:.0f}" role="img" aria-label="{escape(told)}" '
            f'xmlns="http://www.w3.org/2000/svg"><defs>{hatch}</defs>{inside}</svg>'
        )


class Steps:
    """A title, and drawings with a sentence each.

    >>> drawing = Drawing(20)
    >>> drawing.box(0, 0, 100, 20, "useful", "a")
    >>> print(Steps("One step", [(drawing, "It is blue.")]))
    One step
    1  It is blue.
    """

    def __init__(self, title: str, frames: Sequence[tuple[Drawing, str]]) -> None:
        if not frames:
            raise ValueError(f"{title}: a picture needs at least one step")
        self.title, self.frames = title, list(frames)

    def __str__(self) -> str:
        told = [f"{number}  {said}" for number, (_, said) in enumerate(self.frames, 1)]
        return "\n".join([self.title, *told])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        key = f"steps-{hashlib.sha256(self._content().encode()).hexdigest()[:10]}"
        numbers = range(1, len(self.frames) + 1)
        shown = "\n".join(SHOWN.format(key=key, n=n) for n in numbers)
        chosen = "".join(
            f'<label><input type="radio" name="{key}" aria-label="step {n}"'
            f"{' checked' if n == 1 else ''}><span>{n}</span></label>"
            for n in numbers
        )
        frames = "".join(
            f"<div>{drawing.svg(said, f'{key}-{n}')}<p>{escape(said)}</p></div>"
            for n, (drawing, said) in enumerate(self.frames, 1)
        )
        return (
            f'<figure id="{key}" class="bl-steps"><style>{STYLE.format(key=key, shown=shown)}'
            f"</style><fieldset><legend>{escape(self.title)}</legend>{chosen}</fieldset>"
            f'<div class="bl-frames">{frames}</div></figure>'
        )

    def _content(self) -> str:
        return self.title + "".join(one.svg(said, "") for one, said in self.frames)
