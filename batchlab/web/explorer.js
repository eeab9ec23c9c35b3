// Draw an explorer: sliders that look up what Python computed for each setting.
//
//   controls, table, setting  ->  sliders, facts, drawn slots, a status
//
// No formula stands here: every number arrives as text. The same file serves anywidget in a
// notebook and the built book, where no kernel runs.

const STYLE = `
.bl-explorer { --real: #2f8fd0; --next: #7cbfe8; --third: #0f6aa8; max-width: 46rem; padding: .8em 1em;
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 8px; line-height: 1.45; }
.bl-explorer .bl-title { margin: 0 0 .3em; font-size: 1.05em; font-weight: 600; }
.bl-explorer .bl-goal { margin: 0 0 .6em; }
.bl-explorer .bl-control { display: grid; grid-template-columns: minmax(8em, 13em) 1fr 9em; gap: .8em;
  align-items: center; margin: .25em 0; }
.bl-explorer input[type=range] { width: 100%; min-height: 24px; margin: 0; accent-color: var(--real); }
.bl-explorer input[type=range]:focus-visible { outline: 2px solid currentColor; outline-offset: 3px; }
.bl-explorer output { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; font-weight: 600; }
.bl-explorer dl { display: flex; flex-wrap: wrap; gap: .3em 1.8em; margin: .7em 0; }
.bl-explorer dl div { min-width: 6em; }
.bl-explorer dl dt, .bl-explorer dl dd { display: block; float: none; width: auto; padding: 0; } /* Lab and themes float them */
.bl-explorer dl dt { font-size: .85em; opacity: .8; font-weight: 400; margin: 0; }
.bl-explorer dl dd { margin: 0; font-size: 1.15em; font-weight: 600; font-variant-numeric: tabular-nums; }
.bl-explorer .bl-drawn { display: grid; grid-template-columns: 1.4em 1fr; }
.bl-explorer .bl-drawn .bl-rows { writing-mode: vertical-rl; transform: rotate(180deg); text-align: center; font-size: .8em; opacity: .85; }
.bl-explorer .bl-drawn .bl-slots { grid-column: 2; display: flex; justify-content: space-between; font-size: .8em; opacity: .85; border-top: 1px solid; padding-top: .1em; }
.bl-explorer svg { display: block; width: 100%; height: auto; }
.bl-explorer .bl-note { margin: .3em 0 0; font-size: .9em; opacity: .85; min-height: 1.4em; }
.bl-explorer .bl-status { margin: .5em 0 0; font-weight: 600; min-height: 1.4em; }
.bl-explorer .bl-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 34rem) { .bl-explorer .bl-control { grid-template-columns: 1fr 6em; } .bl-explorer .bl-control label { grid-column: 1 / -1; } }
`;
const SVG = "http://www.w3.org/2000/svg";
const SHADES = ["var(--real)", "var(--next)", "var(--third)"];
const WIDTH = 720, HEIGHT = 216;
let made = 0;

function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

// The key of a setting in the table: positions of the sliders, in the order of the controls.
export function keyOf(controls, positions) {
  return controls.map((control) => positions[control.name]).join("|");
}

export function settingOf(controls, positions) {
  return Object.fromEntries(controls.map((c) => [c.name, c.values[positions[c.name]]]));
}

// Where the sliders stand for a setting; what is not offered falls back to the first value.
export function positionsOf(controls, setting) {
  return Object.fromEntries(controls.map((c) => [c.name, Math.max(0, c.values.indexOf(setting[c.name]))]));
}

// Rows are lists of [kind, slots]; a kind of -1 is padding, others are shades of real tokens.
function drawing(rows, extent, label, hatch) {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  const pattern = shape("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(shape("rect", { width: 6, height: 6, fill: "#d9822b", "fill-opacity": 0.14 }),
                 shape("rect", { width: 1.6, height: 6, fill: "#d9822b" }));
  const defs = shape("defs", {});
  defs.append(pattern);
  svg.append(defs);
  const pitch = Math.min(27, HEIGHT / rows.length), height = Math.max(1, pitch * 0.82);
  rows.forEach((row, number) => {
    let x = 0;
    for (const [kind, slots] of row) {
      const width = (slots / extent) * WIDTH;
      svg.append(shape("rect", { x: x.toFixed(2), y: (number * pitch).toFixed(2), height: height.toFixed(2),
        width: Math.max(0.4, width - (kind >= 0 && row.length > 2 ? 0.8 : 0)).toFixed(2),
        fill: kind < 0 ? `url(#${hatch})` : SHADES[kind % 3] }));
      x += width;
    }
  });
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${Math.ceil(pitch * rows.length)}`);
  return svg;
}

// The drawing between its axes: how many bars, how long the full width is. For the eye only: `alt` says it all.
function framed(scene, extent, hatch) {
  const rows = element("div", { className: "bl-rows", textContent: scene.axes[0] });
  const slots = element("div", { className: "bl-slots" }, [element("span", { textContent: "0" }),
    element("span", { textContent: scene.axes[1] })]);
  for (const part of [rows, slots]) part.setAttribute("aria-hidden", "true");
  return element("div", { className: "bl-drawn" }, [rows, drawing(scene.rows, extent, scene.alt, hatch), slots]);
}

function slider(control, position, moved) {
  const id = `bl-slider-${++made}`;
  const text = (place) => control.texts[place];
  const shown = element("output", { textContent: text(position) });
  shown.setAttribute("for", id);
  shown.setAttribute("aria-hidden", "true"); // the slider says it itself
  const input = element("input", { type: "range", id, min: "0", max: String(control.values.length - 1), step: "1" });
  input.setAttribute("data-lm-suppress-shortcuts", "true"); // else JupyterLab takes the arrow keys
  input.value = String(position);
  input.setAttribute("aria-valuetext", text(position));
  input.addEventListener("input", () => {
    const place = Number(input.value);
    shown.textContent = text(place);
    input.setAttribute("aria-valuetext", text(place));
    moved(control.name, place);
  });
  const label = element("label", { textContent: control.label });
  label.setAttribute("for", id);
  const set = (place) => {
    input.value = String(place);
    shown.textContent = text(place);
    input.setAttribute("aria-valuetext", text(place));
  };
  return { node: element("div", { className: "bl-control" }, [label, input, shown]), set };
}

function render({ model, el }) {
  const state = model.get("state");
  const { controls, table, labels, extent, goal, legend } = state;
  const hatch = `bl-hatch-${++made}`;
  let positions = positionsOf(controls, model.get("setting"));
  const facts = element("dl"), view = element("div"), note = element("p", { className: "bl-note" });
  const status = element("p", { className: "bl-status" });
  const spoken = element("p", { className: "bl-hidden" }); // one region that speaks: facts, then the goal
  spoken.setAttribute("role", "status");
  spoken.setAttribute("aria-live", "polite");

  const draw = () => {
    const scene = table[keyOf(controls, positions)];
    facts.replaceChildren(...labels.map((label, i) => element("div", {}, [
      element("dt", { textContent: label }), element("dd", { textContent: scene.values[i] })])));
    view.replaceChildren(...(scene.rows && scene.rows.length ? [framed(scene, scene.extent || extent, hatch)] : []));
    note.textContent = scene.note || legend || "";
    const reached = !goal ? "" : scene.found ? "Found: this setting reaches the goal." : "Not yet.";
    status.textContent = goal ? `${scene.found ? "\u2713" : "\u25cb"} ${reached}` : "";
    spoken.textContent = `${labels.map((label, i) => `${label} ${scene.values[i]}`).join(", ")}. ${reached}`.trim();
  };
  const moved = (name, place) => {
    positions = { ...positions, [name]: place };
    model.set("setting", settingOf(controls, positions));
    model.save_changes();
    draw();
  };
  const sliders = controls.map((control) => slider(control, positions[control.name], moved));
  const follow = () => { // Python moved a slider
    positions = positionsOf(controls, model.get("setting"));
    controls.forEach((control, i) => sliders[i].set(positions[control.name]));
    draw();
  };
  model.on("change:setting", follow);

  const title = element("p", { className: "bl-title", textContent: state.title, id: `bl-title-${++made}` });
  const parts = [title];
  if (goal) parts.push(element("p", { className: "bl-goal", textContent: goal }));
  const form = element("section", { className: "bl-explorer" },
    [...parts, ...sliders.map((one) => one.node), facts, view, note, spoken, ...(goal ? [status] : [])]);
  form.setAttribute("aria-labelledby", title.id);
  el.replaceChildren(element("style", { textContent: STYLE }), form);
  draw();
  return () => model.off("change:setting", follow);
}

export default { render };
