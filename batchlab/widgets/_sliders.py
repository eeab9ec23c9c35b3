"""Sliders around tested functions: every setting is computed here and looked up in the browser.

    controls, a function of a setting  ->  table of scenes  ->  widget, or HTML without a kernel

The script stands in `batchlab/web/explorer.js` and holds no formula; `dialects` says how it
is shown.

Words
    control  a named slider with the values that it offers
    setting  one value of each control
    scene    what one setting shows: facts as text, drawn rows, a note, whether the goal is met
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab.widgets._scripted import Scripted

__all__ = ["Explorer", "explorer", "finder"]

Setting = dict[str, Any]
Scene = Mapping[str, Any]
MOST_SETTINGS = 3000  # a page should stay below a megabyte


class Explorer(Scripted):
    """Sliders, and the scene of each setting; drawn when it is the last line of a cell."""

    script = "explorer.js"
    kept = ("setting",)

    def __init__(self, state: dict[str, Any], setting: Setting) -> None:
        self.state = state
        self._setting = setting

    @property
    def setting(self) -> Setting:
        """Where the sliders stand now; in a notebook they move it, and setting it moves them."""
        return dict(self._widget.setting) if self._widget is not None else dict(self._setting)

    @setting.setter
    def setting(self, setting: Setting) -> None:
        self.scene(setting)  # refuses what is not offered
        self._setting = dict(setting)
        if self._widget is not None:
            self._widget.setting = dict(setting)

    def scene(self, setting: Setting | None = None) -> dict[str, Any]:
        """What is shown for a setting: facts by name, and `found` where there is a goal."""
        scene = self.state["table"][self._key(self.setting if setting is None else setting)]
        facts = dict(zip(self.state["labels"], scene["values"], strict=True))
        return {**facts, "found": scene["found"]} if self.state["goal"] else facts

    def _key(self, setting: Setting) -> str:
        controls = self.state["controls"]
        if set(setting) != {control["name"] for control in controls}:
            names = ", ".join(control["name"] for control in controls)
            raise ValueError(f"a setting has {names}; got {', '.join(setting) or 'nothing'}")
        for control in controls:
            if setting[control["name"]] not in control["values"]:
                raise ValueError(
                    f"{control['name']} {setting[control['name']]!r} is not offered; there are "
                    f"{', '.join(control['texts'])}"
                )
        places = (control["values"].index(setting[control["name"]]) for control in controls)
        return "|".join(map(str, places))

    def __repr__(self) -> str:
        lines = [self.state["title"], *([self.state["goal"]] if self.state["goal"] else [])]
        setting = self.setting
        for control in self.state["controls"]:
            place = control["values"].index(setting[control["name"]])
            offered = f"{control['texts'][0]} to {control['texts'][-1]}"
            lines.append(f"  {control['label']}: {control['texts'][place]} (of {offered})")
        facts = {name: fact for name, fact in self.scene().items() if name != "found"}
        lines += [f"  {name}: {fact}" for name, fact in facts.items()]
        return "\n".join(lines)

    def kept_as(self) -> str:
        return f"explorer {self.state['title']} {self.state['goal']}".strip()

    def traits(self) -> dict[str, Any]:
        return {"state": self.state, "setting": self.setting}


def explorer(
    title: str,
    controls: Mapping[str, tuple[str, Sequence[Any]]],
    scene: Callable[..., Scene],
    *,
    start: Setting | None = None,
    goal: str = "",
    legend: str = "",
    show: Callable[[Any], str] = str,
    down: Callable[[int], str] = lambda rows: "1 row" if rows == 1 else f"{rows} rows",
    across: Callable[[int], str] = "{:,} slots".format,
) -> Explorer:
    """Compute the scene of every setting.

    controls  name: (label, values); `scene` is called with one value of each by name
    scene     gives {"facts": {label: text}}, and if wanted "rows" (lists of (kind, slots), kind -1
              for padding and 0, 1, 2 for documents), "alt", "note", "found", and "extent", the
              slots that fill the width (by default the longest row of all settings)
    show      how a value is written beside its slider
    down      how the number of drawn rows is written beside them, if they are not rows
    across    how the length of the full width is written below it, if it does not count slots
    start     where the sliders stand at first; by default in the middle, where most is to be seen

    >>> square = explorer("Area", {"side": ("side", [1, 2, 3])},
    ...                   lambda side: {"facts": {"area": str(side**2)}}, start={"side": 3})
    >>> square.scene(), square.scene({"side": 2})
    ({'area': '9'}, {'area': '4'})
    """
    if not controls or not all(len(values) for _, values in controls.values()):
        raise ValueError(f"{title}: at least one control, each with at least one value, is needed")
    described = [
        {"name": name, "label": label, "values": list(values), "texts": [show(v) for v in values]}
        for name, (label, values) in controls.items()
    ]
    offered = list(itertools.product(*(range(len(values)) for _, values in controls.values())))
    if len(offered) > MOST_SETTINGS:
        raise ValueError(f"{title}: {len(offered):,} settings; offer at most {MOST_SETTINGS:,}")
    names, table = list(controls), {}
    labels: list[str] = []
    for places in offered:
        values = [described[i]["values"][place] for i, place in enumerate(places)]
        found = scene(**dict(zip(names, values, strict=True)))
        labels = labels or list(found["facts"])
        if list(found["facts"]) != labels:
            raise ValueError(f"{title}: facts {list(found['facts'])} at {values}, else {labels}")
        table["|".join(map(str, places))] = _drawn(found)
    widths = (sum(slots for _, slots in row) for one in table.values() for row in one["rows"])
    extent = max(widths, default=1)
    for one in table.values():
        one["axes"] = [down(len(one["rows"])), across(one["extent"] or extent)]
    state = {"title": title, "goal": goal, "legend": legend, "controls": described,
             "labels": labels, "table": table, "extent": extent}  # fmt: skip
    middle = {name: values[len(values) // 2] for name, (_, values) in controls.items()}
    made = Explorer(state, middle)
    if start is not None:
        made.setting = start
    return made


def _drawn(found: Scene) -> dict[str, Any]:
    rows = [[[int(kind), int(slots)] for kind, slots in row] for row in found.get("rows", [])]
    if rows and not found.get("alt"):
        raise ValueError("a scene with drawn rows needs its text for who cannot see: alt")
    return {
        "values": [str(fact) for fact in found["facts"].values()],
        "rows": rows,
        "alt": found.get("alt", ""),
        "note": found.get("note", ""),
        "extent": found.get("extent"),
        "found": bool(found.get("found", False)),
    }


def finder(
    title: str,
    controls: Mapping[str, tuple[str, Sequence[Any]]],
    scene: Callable[..., Scene],
    *,
    goal: str,
    where: Callable[..., bool],
    **options: Any,
) -> Explorer:
    """Make an explorer with a goal: "find the setting where ...".

    `where` takes a setting like `scene` does and says whether the goal is met. At least one
    setting must meet it and one must not, else there is nothing to find. It opens near the middle,
    at a setting that gives nothing away.
    """

    def judged(**setting: Any) -> Scene:
        return {**scene(**setting), "found": where(**setting)}

    made = explorer(title, controls, judged, goal=goal, **options)
    met = [one["found"] for one in made.state["table"].values()]
    if all(met) or not any(met):
        raise ValueError(f"{title}: the goal is met by {sum(met)} of {len(met)} settings")
    if "start" not in options:
        made.setting = _open(made)
    return made


def _open(made: Explorer) -> Setting:
    """The setting nearest to the middle of which no slider, or as few as can be, is right."""
    controls = made.state["controls"]
    middle = [len(control["values"]) // 2 for control in controls]
    at = {key: [int(place) for place in key.split("|")] for key in made.state["table"]}
    met = [at[key] for key, one in made.state["table"].items() if one["found"]]
    right = [{places[i] for places in met} for i in range(len(controls))]

    def given_away(places: list[int]) -> tuple[int, int]:
        shared = sum(place in good for place, good in zip(places, right, strict=True))
        return shared, sum(abs(a - b) for a, b in zip(places, middle, strict=True))

    places = min((one for one in at.values() if one not in met), key=given_away)
    return {
        control["name"]: control["values"][place]
        for control, place in zip(controls, places, strict=True)
    }
