// What a page of the book does by itself: cover what a guess is about, keep progress, open folds for paper.
//
//   quizzes, guesses, exercises and settings kept by their scripts  ->  progress of each lesson, shown and exported
//
// Everything stays in this browser, in its localStorage under "batchlab:".

const PREFIX = "batchlab:";
const MATHJAX = new URL("mathjax/tex-chtml.js", document.currentScript.src).href;

function kept() {
  const found = {};
  try {
    for (let i = 0; i < localStorage.length; i += 1) {
      const name = localStorage.key(i);
      if (name.startsWith(PREFIX)) found[name.slice(PREFIX.length)] = JSON.parse(localStorage.getItem(name));
    }
  } catch { /* a browser that keeps nothing: the page works all the same */ }
  return found;
}

function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// What a lesson asks on its page; noted when the page is seen, so that the list of lessons knows.
function noteTotals() {
  const lesson = document.querySelector(".bl-start [data-progress]")?.dataset.progress;
  if (!lesson) return;
  const quizzes = [...document.querySelectorAll('[data-kind="Quiz"]')];
  const guesses = document.querySelectorAll('[data-kind="Prediction"]:not([data-kept=""])');
  const questions = quizzes.reduce((sum, one) => sum + one.querySelectorAll("fieldset").length, 0);
  const points = [...document.querySelectorAll("[data-points]")].reduce((sum, one) => sum + Number(one.dataset.points), 0);
  try {
    localStorage.setItem(`${PREFIX}total ${lesson}`, JSON.stringify({ questions, guesses: guesses.length, points }));
  } catch { /* nothing is kept */ }
}

function progress(lesson) {
  const all = kept(), total = all[`total ${lesson}`];
  if (!total) return "";
  let answered = 0, guessed = 0, earned = 0;
  for (const [name, value] of Object.entries(all)) {
    if (!name.startsWith(`${lesson}-`) || !value) continue;
    if (value.chosen) answered += Object.keys(value.chosen).length;
    if (typeof value.guess === "number") guessed += 1;
    earned += value.points ?? 0;
  }
  const points = total.points ? `, ${earned} of ${total.points} points` : "";
  return `Here so far: ${guessed} of ${total.guesses} guesses, ${answered} of ${total.questions} questions${points}.`;
}

function showProgress() {
  for (const place of document.querySelectorAll("[data-progress]")) {
    if (place.dataset.progress !== "export") place.textContent = progress(place.dataset.progress);
  }
  for (const item of document.querySelectorAll("ol.bl-lessons li")) {
    const said = progress(item.dataset.lesson.slice(0, 2));
    let place = item.querySelector(".bl-so-far");
    if (said && !place) item.append(place = element("p", { className: "bl-so-far" }));
    if (place) place.textContent = said;
  }
}

function offerExport() {
  const place = document.querySelector('[data-progress="export"]');
  if (!place) return;
  const give = element("button", { type: "button", textContent: "Export what I answered here" });
  give.addEventListener("click", () => {
    const file = new Blob([JSON.stringify(kept(), null, 1)], { type: "application/json" });
    const link = element("a", { href: URL.createObjectURL(file), download: "effective_batch_progress.json" });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  const forget = element("button", { type: "button", textContent: "Forget it" });
  forget.addEventListener("click", () => {
    for (const name of Object.keys(kept())) localStorage.removeItem(PREFIX + name);
    showProgress();
  });
  place.replaceChildren(give, forget);
}

// Outputs from the box of a guess down to its truth are covered until the guess is made.
function cover() {
  for (const truth of document.querySelectorAll('[data-kind="Prediction"][data-kept=""]')) {
    const key = truth.dataset.predict;
    const box = document.querySelector(`[data-kind="Prediction"][data-kept="${key}"]`);
    const last = truth.closest("div.cell"), first = box?.closest("div.cell");
    if (!first || !last) continue;
    const cells = [...document.querySelectorAll("div.cell")];
    const between = cells.slice(cells.indexOf(first) + 1, cells.indexOf(last) + 1);
    const outputs = between.flatMap((cell) => [...cell.querySelectorAll(":scope > .cell_output")]);
    let skipped = false;
    const draw = () => {
      const open = skipped || typeof kept()[key]?.guess === "number";
      outputs.forEach((one) => one.classList.toggle("bl-covered", !open));
    };
    const target = outputs.at(-1);
    if (!target) continue;
    const button = element("button", { type: "button", textContent: "Show it without a guess" });
    const note = element("p", { className: "bl-cover" }, ["Commit to a guess above, then the result shows here. ", button]);
    button.addEventListener("click", () => { skipped = true; note.remove(); draw(); });
    target.prepend(note);
    document.addEventListener("batchlab", draw);
    draw();
  }
  document.addEventListener("batchlab", () => {
    for (const note of document.querySelectorAll(".bl-cover")) {
      if (!note.closest(".bl-covered")) note.remove();
    }
  });
  document.dispatchEvent(new CustomEvent("batchlab"));
}

// Figures have text of 8.5 points or more at the size that they are drawn at. On a narrow screen each
// is shown at 0.81 of it, so that no text falls below 9 px, whatever the figure's width.
const LEAST = 0.81;

function shrink(figure) {
  const drawn = figure.naturalWidth / (figure.dataset.density || 1);
  if (drawn) figure.style.setProperty("--bl-narrow", `${Math.round(LEAST * drawn)}px`);
}

const RULED = /^ *-{3,}( +-{3,})+ *$/m; // the line under the names of a table that was printed
const COLUMNS = /^.*\S {2,}\S.* {2,}\S.*$/gm; // a line of three columns; two such lines are a table, too
const isTable = (text) => RULED.test(text) || (text.match(COLUMNS) || []).length > 1;

// Wide tables and figures scroll in a frame of their own, which the keyboard reaches, and say so.
function frame() {
  const printed = [...document.querySelectorAll("div.cell_output pre")].filter((one) => isTable(one.textContent));
  for (const one of printed) one.classList.add("bl-printed");
  const wide = [...printed, ...document.querySelectorAll("article table, article div.cell_output img, article img[src*='_images/'], article div.math")];
  let regions = 0;
  for (const one of wide) {
    if (one.closest(".bl-wide, .bl-explorer, .bl-quiz, .highlighttable")) continue;
    const holder = one.closest(".pst-scrollable-table-container") || element("div");
    const drawn = one.closest("a.image-reference") || one;
    if (!holder.isConnected) { drawn.before(holder); holder.append(drawn); }
    holder.classList.add("bl-wide");
    const note = element("p", { className: "bl-says", textContent: "Wider than the screen: it scrolls sideways.", hidden: true });
    holder.after(note);
    const number = regions += 1; // no two regions share a name
    const check = () => {
      const over = holder.scrollWidth > holder.clientWidth + 1;
      note.hidden = !over;
      if (over) {
        holder.tabIndex = 0;
        holder.setAttribute("role", "region");
        holder.setAttribute("aria-label", `${one.matches("table, pre") ? "Table" : "Figure"} ${number}, scrolls sideways`);
      } else for (const name of ["tabindex", "role", "aria-label"]) holder.removeAttribute(name);
    };
    const sized = new ResizeObserver(check);
    for (const box of [holder, one]) sized.observe(box); // a formula may come later
    if (one.tagName === "IMG" && !one.complete) one.addEventListener("load", () => { shrink(one); check(); });
    if (one.tagName === "IMG") shrink(one);
    check();
  }
}

// Formulas are drawn when one is near the screen, or at the first sign of a reader.
function drawFormulas() {
  const formulas = document.querySelectorAll(".math");
  if (!formulas.length) return;
  const signs = ["scroll", "keydown", "pointerdown", "focusin", "beforeprint"];
  const near = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) fetched(); }, { rootMargin: "50%" });
  function fetched() {
    near.disconnect();
    for (const sign of signs) removeEventListener(sign, heard, true);
    document.head.append(element("script", { src: MATHJAX }));
  }
  function heard(event) { // the list of pages scrolls by itself to the one that is read
    if (event.type !== "scroll" || event.target === document) fetched();
  }
  for (const sign of signs) addEventListener(sign, heard, true);
  for (const one of formulas) near.observe(one);
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));

// The theme's arrow beside a page that has pages below it says nothing to a reader of screens.
function nameArrows() {
  for (const arrow of document.querySelectorAll(".bd-sidebar-primary details > summary")) {
    arrow.setAttribute("aria-label", `Pages below: ${arrow.parentElement.previousElementSibling?.textContent}`);
  }
}

addEventListener("load", () => {
  nameArrows();
  document.querySelector(".bd-sidebar-primary .navbar-brand")?.parentElement.setAttribute("role", "banner");
  noteTotals();
  cover();
  frame();
  drawFormulas();
  offerExport();
  showProgress();
  document.addEventListener("batchlab", showProgress);
});
