// The page of `batchlab watch`: draws a state, and asks its own server for the next one.
const $ = (id) => document.getElementById(id);
const COLOURS = { "useful tokens": "useful", padding: "padding", "waiting for input": "input", "waiting for ranks": "ranks",
  communication: "communication", optimizer: "optimizer", "generation, scoring": "generation", host: "host",
  "process did not run": "away", unexplained: "unexplained" };
const EVERY = 2000; // ms between two questions
const SILENT = 30; // seconds without a word of the kernel

const plain = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
const scaled = (value, units, digits = 3) => {
  const [size, name] = units.find(([least]) => Math.abs(value) >= least) ?? units.at(-1);
  return `${plain(value / size, digits)}${name}`;
};
const count = (value) => (Math.abs(value) < 1e4 ? plain(Math.abs(value) < 100 ? Math.round(value * 10) / 10 : Math.round(value), 4) : scaled(value, [[1e12, " T"], [1e9, " B"], [1e6, " M"], [1e3, " k"]]));
const seconds = (value) => (value === 0 ? "0" : scaled(value, [[1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]]));
const share = (value) => `${(100 * value).toFixed(1).replace(/^-0.0$/, "0.0")} %`;
const power = (most) => 2 ** (10 * Math.floor(Math.log2(Math.max(1, most)) / 10));
const bytes = (value) => scaled(value, [[2 ** 30, " GiB"], [2 ** 20, " MiB"], [2 ** 10, " KiB"], [1, " B"]]);

let state = JSON.parse($("state").textContent), axis = "tokens", follows = true;
const charts = {};

function age(since) {
  const passed = Math.max(0, Date.now() / 1000 - since);
  return passed < 90 ? `${Math.round(passed)} s` : passed < 5400 ? `${Math.round(passed / 60)} min` : `${Math.round(passed / 3600)} h`;
}

function tellStatus(lost) {
  const passed = Date.now() / 1000 - (state.written ?? 0), line = (state.line_steps ?? 0) * (state.now?.seconds ?? 0);
  let text = `waiting for the first record of ${state.name}`, kind = "waiting";
  if (state.steps) [text, kind] = passed < 15 + 3 * line ? ["running", "running"] : [`no new line for ${age(state.written)}`, "quiet"];
  if (state.steps && state.launches.length) text += `, launch ${state.launches.length + 1}`;
  if (state.read < 1) [text, kind] = [`reading the record: ${Math.floor(100 * state.read)} %`, "waiting"];
  if (Date.now() / 1000 - (state.sent ?? Infinity) > SILENT) [text, kind] = [`the kernel is silent for ${age(state.sent)}: run this cell again`, "ended"];
  if (lost) [text, kind] = ["batchlab watch has ended: this is the last state", "ended"];
  if (state.copied) [text, kind] = [`a copy of ${state.copied.slice(0, 16).replace("T", " ")} UTC`, "copy"];
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").dataset.state = kind;
}

function tile(name, value, more = "", bad = false) {
  const box = html("div", {}, html("dt", {}, name), html("dd", {}, value));
  if (more) box.append(html("dd", { class: bad ? "more bad" : "more" }, more));
  return box;
}

function tiles() {
  const { now, points, setting } = state, last = (name) => (points[name] ?? []).findLast((one) => one != null);
  const per = state.whole ? "" : " a rank";
  const found = [
    tile("effective batch", count(now.sequences), `sequences${per}: ${setting.rows} rows × ${setting.accumulation} × ${setting.ranks.length} ${setting.ranks.length > 1 ? "ranks" : "rank"}`),
    tile("tokens of a step", count(now.targets ?? now.slots), now.targets == null ? "slots; no labels seen" : `targets, in ${count(now.slots)} slots`),
    tile("useful tokens/s", count(now.rate), `${count(state.tokens)} in ${count(state.steps)} steps${state.again ? `, ${count(state.again)} of them taken again` : ""}`),
    tile("padding", share(now.waste), "of the slots"),
    tile("step", seconds(now.seconds), now.stalls ? `${now.stalls} of the last stalled` : "none of the last stalled", now.stalls > 0),
  ];
  const broken = (points.not_finite ?? []).reduce((sum, one) => sum + (one ?? 0), 0);
  if (last("loss") != null || broken) found.push(tile("loss", last("loss") == null ? "not finite" : plain(last("loss"), 4), broken ? `${count(broken)} not finite` : "", true));
  if (last("gradient_norm") != null) found.push(tile("gradient norm", plain(last("gradient_norm")), state.clip ? `${share(state.clipped ?? 0)} clipped at ${plain(state.clip)}` : ""));
  const memory = last("peak_bytes") ?? last("resident_bytes");
  if (memory != null) found.push(tile("memory", bytes(memory), last("peak_bytes") != null ? "peak of the GPU" : "of the process"));
  $("tiles").replaceChildren(...found);
}

function verdict() {
  const { text, details, steps, history } = state.verdict;
  if ($("sentence").textContent !== text) $("sentence").textContent = text;
  $("reasons").replaceChildren(...details.map((one) => html("li", {}, one)));
  $("after").textContent = steps ? `from the last ${count(steps)} steps of this launch` : "";
  $("history").replaceChildren(...(history.length > 1 ? history.map((one) => html("li", {}, `at step ${count(one.step)}: ${one.head}`)) : []));
}

function wanted() {
  const p = state.points, none = p.step.map(() => null), get = (name) => p[name] ?? none;
  const line = (name, key, colour, more = {}) => ({ name, y: get(key), colour, ...more });
  const band = (key) => ({ low: get(`${key}_least`), high: get(`${key}_most`) });
  const totals = p.step.map((_, at) => (state.parts.seconds[0]?.[at] == null ? null : state.parts.seconds.reduce((sum, part) => sum + part[at], 0)));
  const found = {
    loss: { title: "Loss", lines: [line("loss", "loss", "useful", band("loss"))], format: (v) => plain(v, 4) },
    norm: { title: "Gradient norm", lines: [line("gradient norm", "gradient_norm", "optimizer", band("gradient_norm"))], zero: true, limit: state.clip, format: plain,
      aside: (at) => (state.clip && get("clipped")[at] != null ? ` · ${share(get("clipped")[at])} clipped` : "") },
    parts: { title: "Parts of a step", wide: true, zero: true, format: seconds,
      stack: { parts: state.parts.seconds, names: state.parts.names, totals, colours: state.parts.names.map((name) => COLOURS[name]) } },
    rate: { title: "Useful tokens a second", lines: [line("tokens/s", "rate", "useful")], zero: true, format: count },
    waste: { title: "Padding, share of the slots", lines: [line("padding", "waste", "padding")], zero: true, format: share, tick: (v) => `${plain(100 * v)} %` },
    batch: { title: "Effective batch, tokens of a step", zero: true, format: count, lines: [line("slots", "slots", "padding", { dash: "5 3" }), line("targets", "targets", "useful")],
      aside: (at) => (get("sequences")[at] == null ? "" : ` · ${count(get("sequences")[at])} sequences`) },
    stalls: { title: "Seconds of a step, and stalled ones", lines: [line("step", "seconds", "useful")], dots: get("stalled"), zero: true, format: seconds },
    memory: { title: "Memory", zero: true, format: bytes, unit: power, lines: [line("GPU, peak", "peak_bytes", "padding"), line("GPU, reserved", "reserved_bytes", "input", { dash: "5 3" }), line("process", "resident_bytes", "useful")].filter((one) => one.y !== none) },
    outside: { title: "Evaluation and saving, seconds a step", lines: [line("between steps", "outside", "host")], zero: true, format: seconds },
  };
  const recorded = (one) => one.stack || one.lines.some((each) => each.y.some((value) => value)) || (one.lines[0]?.name === "padding");
  return Object.entries(found).filter(([, one]) => recorded(one));
}

function ranks() {
  $("side").hidden = state.ranks.length < 2 && state.setting.world < 2;
  const longest = Math.max(...state.ranks.map((one) => one.seconds));
  const head = ["rank", "last step", "tokens/s", "padding", "waits for input", "waits for ranks", "a step: work, input, waiting"];
  const bar = (value, colour) => html("span", { class: "bar", style: `width:${(11 * value) / longest}rem;background:var(--${colour})` });
  $("ranks").replaceChildren(
    html("thead", {}, html("tr", {}, ...head.map((one) => html("th", { scope: "col" }, one)))),
    html("tbody", {}, ...state.ranks.map((one) => html("tr", {},
      html("th", { scope: "row" }, `${one.rank}${one.last ? ", the last one" : ""}`),
      ...[count(one.step), count(one.rate), share(one.waste), seconds(one.input), seconds(one.waiting)].map((text) => html("td", {}, text)),
      html("td", { class: "bars" }, bar(Math.max(0, one.seconds - one.waiting - one.input), "useful"), bar(one.input, "input"), bar(one.waiting, "ranks"), ` ${seconds(one.seconds)}`)))));
  if (state.ranks.length < state.setting.world) $("ranks-title").textContent = `Ranks side by side: ${state.ranks.length} of ${state.setting.world} recorded`;
}

function legend(chart, place) {
  const { parts, names, colours, totals } = chart.chart.stack;
  const rows = names.map((name, at) => html("tr", {}, html("th", { scope: "row" }, html("span", { class: "key", style: `background:var(--${colours[at]})` }), name),
    html("td", {}, seconds(parts[at][place])), html("td", {}, share(parts[at][place] / totals[place])))).reverse();
  const last = html("tr", {}, html("th", { scope: "row" }, "step"), html("td", {}, seconds(totals[place])), html("td", {}, ""));
  const found = html("table", { class: "legend" }, html("thead", {}, html("tr", {}, ...["part", "seconds", "share"].map((one) => html(one === "part" ? "th" : "td", {}, one)))), html("tbody", {}, ...rows, last));
  chart.body.querySelector("table")?.remove();
  chart.body.append(found);
}

function cursor() {
  const place = Number($("cursor").value), { step, tokens } = state.points;
  const text = `step ${count(step[place])}, ${count(tokens[place])} tokens`;
  $("place").textContent = text;
  $("cursor").setAttribute("aria-valuetext", text);
  for (const one of Object.values(charts)) {
    const here = one.at(place);
    if (one.chart.stack && here >= 0) legend(one, here);
  }
}

function draw() {
  document.title = `${state.name} · batchlab watch`;
  $("name").textContent = state.name;
  tellStatus();
  if (!state.steps) return;
  const { setting } = state;
  $("about").textContent = `${state.model} · ${state.device} · ${state.precision} · ${setting.layout}${state.broken ? ` · ${count(state.broken)} ${state.broken > 1 ? "lines" : "line"} cut off or no record` : ""}`;
  $("controls").hidden = false;
  verdict();
  tiles();
  ranks();
  const xs = state.points[axis], marks = state.launches.map((base) => xs[state.points.step.findIndex((one) => one > base)] ?? xs.at(-1));
  const shown = wanted();
  for (const id of Object.keys(charts)) if (!shown.some(([one]) => one === id)) { charts[id].figure.remove(); delete charts[id]; }
  for (const [id, chart] of shown) {
    charts[id] ??= new Chart($("charts"), id, chart.wide);
    if (chart.wide && !charts[id].body.querySelector("table")) charts[id].body.append(html("table", { class: "legend" }));
    charts[id].draw(chart, xs, marks, count);
  }
  $("charts").append(...shown.map(([id]) => charts[id].figure));
  const most = xs.length - 1;
  $("cursor").max = most;
  if (follows) $("cursor").value = most;
  cursor();
}

$("cursor").addEventListener("input", () => { follows = Number($("cursor").value) === Number($("cursor").max); cursor(); });
for (const one of document.getElementsByName("axis")) one.addEventListener("change", () => { axis = one.value; draw(); });
$("charts").addEventListener("pointermove", (event) => {
  const svg = event.target.closest("svg"), chart = Object.values(charts).find((one) => one.svg === svg);
  if (!chart) return;
  const at = (event.clientX - svg.getBoundingClientRect().left) * (svg.viewBox.baseVal.width / svg.clientWidth);
  const away = chart.xs.map((x) => Math.abs(chart.x(x) - at));
  $("cursor").value = away.indexOf(Math.min(...away));
  cursor();
});
$("charts").addEventListener("pointerleave", () => { if (follows) $("cursor").value = $("cursor").max; cursor(); });
new ResizeObserver(() => draw()).observe($("charts"));

async function ask() {
  let pause = EVERY;
  if (!document.hidden) {
    try {
      const answer = await fetch(`state?have=${state.version ?? 0}`, { cache: "no-store" });
      if (answer.status === 200) { state = await answer.json(); draw(); }
      tellStatus();
      if (state.read < 1) pause = 0;
    } catch { tellStatus(true); }
  }
  setTimeout(ask, pause);
}
function hear() { // in a notebook, whose kernel sends each new state
  addEventListener("message", (event) => { if (event.source === parent) { state = event.data; draw(); } });
  setInterval(() => tellStatus(), EVERY);
}
draw();
if (!state.copied) (location.protocol === "about:" ? hear : ask)();
