// One chart: lines with bands, or a stack, over steps or tokens; a cross at the cursor.
const SVG = "http://www.w3.org/2000/svg";
const made = (name, attributes = {}, text) => {
  const one = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  return one;
};
const html = (name, attributes = {}, ...inside) => {
  const one = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...inside);
  return one;
};
const HEIGHT = 190, LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 24;

function ticks(low, high, about, unit = 1) {
  if (unit !== 1) return ticks(low / unit, high / unit, about).map((one) => one * unit);
  const raw = (high - low || Math.abs(high) || 1) / about, ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * ten).find((one) => one >= raw * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

// Runs of points that have a value, without what no line was written for: a gap is bridged.
const told = (xs, ys) => xs.map((x, at) => [x, ys[at], at]).filter((one) => one[1] != null);

class Chart {
  // chart: {title, lines: [{name, y, low, high, colour}], stack, format, zero, limit, dots}
  constructor(parent, id, wide) {
    this.value = html("span", { class: "at" });
    this.title = html("h2");
    this.body = html("div", { class: "body" });
    this.svg = made("svg", { role: "img", height: HEIGHT });
    this.body.append(this.svg);
    this.figure = html("figure", { id, ...(wide ? { class: "wide" } : {}) }, html("figcaption", {}, this.title, this.value), this.body);
    parent.append(this.figure);
  }

  draw(chart, xs, marks, axis) {
    this.chart = chart;
    this.xs = xs;
    const width = Math.max(200, this.svg.clientWidth || this.body.clientWidth), svg = this.svg;
    this.title.textContent = chart.title;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const all = chart.stack ? chart.stack.totals : chart.lines.flatMap((one) => [one.y, one.low ?? [], one.high ?? []].flat());
    const there = [...all, ...(chart.dots ?? []), chart.limit].filter((one) => one != null);
    let low = chart.zero ? 0 : Math.min(...there), high = Math.max(...there);
    if (high === low) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
    if (chart.zero) high *= 1.04;
    const first = Math.min(0, xs[0]), last = xs[xs.length - 1] || 1;
    this.x = (value) => LEFT + ((value - first) / (last - first || 1)) * (width - LEFT - RIGHT);
    const y = (value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    for (const at of ticks(low, high, 4, chart.unit?.(high))) {
      svg.append(made("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(at), y2: y(at) }),
        made("text", { x: LEFT - 6, y: y(at) + 4, "text-anchor": "end" }, (chart.tick ?? chart.format)(at)));
    }
    for (const at of ticks(first, last, width < 450 ? 3 : 6)) {
      svg.append(made("text", { x: this.x(at), y: HEIGHT - 6, "text-anchor": at === first ? "start" : at > last * 0.97 ? "end" : "middle" }, axis(at)));
    }
    if (chart.stack) this.#stack(chart.stack, y);
    for (const at of marks) svg.append(made("line", { class: "mark", x1: this.x(at), x2: this.x(at), y1: TOP, y2: HEIGHT - BOTTOM }));
    if (!chart.stack) this.#lines(chart, y);
    if (marks.length) { // a name stands on its halo, above all lines
      const at = this.x(marks.at(-1)), beside = at > width - 90 ? { x: at - 4, "text-anchor": "end" } : { x: at + 4 };
      svg.append(made("text", { class: "name", ...beside, y: TOP + 9 }, `launch ${marks.length + 1}`));
    }
    this.cross = made("line", { class: "cross", y1: TOP, y2: HEIGHT - BOTTOM });
    svg.append(this.cross);
    svg.setAttribute("aria-label", this.#words());
  }

  #lines(chart, y) {
    if (chart.limit != null) this.svg.append(made("line", { class: "mark", x1: LEFT, x2: this.x(this.xs.at(-1)), y1: y(chart.limit), y2: y(chart.limit) }));
    const clip = () => chart.limit != null && this.svg.append(made("text", { class: "name", x: LEFT + 4, y: y(chart.limit) - 4 }, `clip ${chart.format(chart.limit)}`));
    for (const one of chart.lines) {
      const points = told(this.xs, one.y), colour = `var(--${one.colour})`;
      if (!points.length) continue;
      const path = (pairs) => pairs.map(([x, v], at) => `${at ? "L" : "M"}${this.x(x).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      if (one.low) {
        const under = points.map(([x, , at]) => [x, one.low[at]]), over = points.map(([x, , at]) => [x, one.high[at]]);
        this.svg.append(made("path", { d: `${path(over)}${path(under.reverse()).replace("M", "L")}Z`, fill: colour, opacity: "var(--shade)" }));
      }
      this.svg.append(made("path", { d: path(points), fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-linejoin": "round", ...(one.dash ? { "stroke-dasharray": one.dash } : {}) }));
      if (points.length === 1) this.svg.append(made("circle", { cx: this.x(points[0][0]), cy: y(points[0][1]), r: 3, fill: colour }));
    }
    (chart.dots ?? []).forEach((value, at) => {
      if (value != null) this.svg.append(made("circle", { cx: this.x(this.xs[at]), cy: y(value), r: 3, fill: "var(--padding)", stroke: "var(--card)" }));
    });
    clip();
  }

  #stack(stack, y) {
    const there = stack.totals.map((one, at) => (one == null ? -1 : at)).filter((at) => at >= 0);
    let below = there.map(() => 0);
    stack.parts.forEach((part, which) => {
      const above = there.map((at, n) => below[n] + part[at]);
      const edge = (sums) => there.map((at, n) => `${this.x(this.xs[at]).toFixed(1)} ${y(sums[n]).toFixed(1)}`);
      // what comes before the first line is as that line
      const [begin, ...rest] = edge(above), [start, ...lower] = edge(below), left = this.x(Math.min(0, this.xs[0])).toFixed(1);
      const d = `M${left} ${begin.split(" ")[1]}L${[begin, ...rest].join("L")}L${[start, ...lower].reverse().join("L")}L${left} ${start.split(" ")[1]}Z`;
      this.svg.append(made("path", { d, fill: `var(--${stack.colours[which]})`, stroke: "var(--card)", "stroke-width": 0.8 }));
      below = above;
    });
  }

  #words() {
    const { chart } = this, format = chart.format;
    const lines = chart.stack ? [] : chart.lines.map((one) => {
      const values = one.y.filter((value) => value != null);
      return values.length ? `${one.name}: from ${format(values[0])} to ${format(values.at(-1))}, between ${format(Math.min(...values))} and ${format(Math.max(...values))}` : `${one.name}: not recorded`;
    });
    const last = chart.stack?.totals.findLastIndex((one) => one != null);
    const parts = chart.stack?.parts.map((part, at) => `${chart.stack.names[at]} ${format(part[last])}`) ?? [];
    return `${chart.title}. ${[...lines, ...parts].join("; ")}.`;
  }

  // The value next to the cursor, or before it where there is none.
  at(place) {
    const before = (values) => { for (let at = place; at >= 0; at -= 1) if (values[at] != null) return at; return -1; };
    this.cross.setAttribute("x1", this.x(this.xs[place]));
    this.cross.setAttribute("x2", this.x(this.xs[place]));
    if (this.chart.stack) return before(this.chart.stack.totals);
    this.value.textContent = this.chart.lines.map((one) => {
      const here = before(one.y);
      return `${this.chart.lines.length > 1 ? `${one.name} ` : ""}${here < 0 ? "–" : this.chart.format(one.y[here])}`;
    }).join(" · ") + (this.chart.aside?.(place) ?? "");
    return place;
  }
}
