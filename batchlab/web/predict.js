// Commit to a number, then see it beside the truth; for pages of the book, where no kernel runs.
//
//   a guess: key, unit, low, high  ->  a box that commits        a truth: key, unit, truth  ->  both numbers
//
// Both parts know each other by the key, through what the page keeps.

const STYLE = `
.bl-predict { border-left: 4px solid #2f8fd0; padding: .4em 0 .4em 1em; margin: .6em 0; line-height: 1.5; }
.bl-predict form { display: flex; flex-wrap: wrap; gap: .5em; align-items: center; }
.bl-predict input { font: inherit; width: 9em; min-height: 28px; padding: .1em .4em; color: inherit; background: transparent; border: 1px solid currentColor; border-radius: 6px; }
.bl-predict button { font: inherit; min-height: 28px; padding: .1em .9em; border: 1px solid currentColor; border-radius: 6px; background: transparent; color: inherit; cursor: pointer; }
.bl-predict input:focus-visible, .bl-predict button:focus-visible { outline: 2px solid; outline-offset: 2px; }
.bl-predict form[hidden] { display: none; }
.bl-predict p { margin: .3em 0 0; }
`;

let made = 0;

function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// A number as Python's format ".4g" writes it.
export function general(value, digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const size = Number(exponent);
  if (size >= -4 && size < digits) return String(Number(value.toPrecision(digits)));
  return `${Number(mantissa)}e${size < 0 ? "-" : "+"}${String(Math.abs(size)).padStart(2, "0")}`;
}

// The same words as batchlab.classroom.predict.
export function distance(guess, truth) {
  if (Math.abs(guess - truth) <= 0.02 * Math.max(Math.abs(guess), Math.abs(truth))) return "as good as exact";
  if (guess * truth <= 0) return `off by ${general(Math.abs(guess - truth), 3)}`;
  const factor = guess / truth;
  return factor > 1 ? `${general(factor, 3)} times too high` : `${general(1 / factor, 3)} times too low`;
}

// What a learner wrote, as a number, or why it is none.
export function read(text, low, high) {
  const value = Number(text.trim().replace(",", "."));
  if (!text.trim() || !Number.isFinite(value)) return { problem: "A guess is one number." };
  if ((low !== null && value < low) || (high !== null && value > high)) {
    const bound = (one) => (one === null ? "any number" : String(one));
    return { problem: `It lies between ${bound(low)} and ${bound(high)}.` };
  }
  return { value };
}

function guess(model, el) {
  const unit = model.get("unit"), id = `bl-guess-${++made}`;
  const said = element("p", { id: `${id}-said` });
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  const input = element("input", { type: "text", inputMode: "decimal", id, autocomplete: "off" });
  input.setAttribute("data-lm-suppress-shortcuts", "true");
  input.setAttribute("aria-describedby", said.id);
  const label = element("label", { textContent: unit ? `Your guess, ${unit}:` : "Your guess:" });
  label.setAttribute("for", id);
  const form = element("form", {}, [label, input, element("button", { type: "submit", textContent: "Commit" })]);
  const committed = () => {
    const kept = model.get("guess");
    form.hidden = kept !== null;
    if (kept !== null) said.textContent = `Your guess: ${`${general(kept, 4)} ${unit}`.trim()}. Now read on.`;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const found = read(input.value, model.get("low"), model.get("high"));
    if (found.problem) { said.textContent = found.problem; input.focus(); return; }
    model.set("guess", found.value);
    model.save_changes();
    committed();
  });
  el.replaceChildren(element("style", { textContent: STYLE }), element("div", { className: "bl-predict" }, [form, said]));
  committed();
}

function truth(model, el) {
  const value = model.get("truth"), unit = model.get("unit");
  const draw = () => {
    const kept = model.other(model.get("key")), number = kept && kept.guess;
    const it = `${general(value, 4)} ${unit}`.trim();
    el.dataset.open = String(typeof number === "number");
    box.textContent = typeof number === "number"
      ? `You guessed ${general(number, 4)}, it is ${it}: ${distance(number, value)}.`
      : `It is ${it}.`;
  };
  const box = element("p");
  box.setAttribute("role", "status");
  el.replaceChildren(element("style", { textContent: STYLE }), element("div", { className: "bl-predict" }, [box]));
  document.addEventListener("batchlab", draw);
  draw();
}

function render({ model, el }) {
  el.dataset.predict = model.get("key");
  if (model.get("truth") === null) guess(model, el); else truth(model, el);
}

export default { render };
