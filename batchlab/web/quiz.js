// Draw a quiz: choose, then check; the answer is spoken through a live region.
//
//   items (question, options with text, right, why)  ->  a form
//
// The same file serves anywidget in a notebook and the built book, where no kernel runs.

const STYLE = `
.bl-quiz fieldset { border: 1px solid color-mix(in srgb, currentColor 40%, transparent); border-radius: 6px; margin: 0 0 1em; padding: .6em 1em; }
.bl-quiz legend { float: left; font-size: 1em; font-weight: 600; line-height: 1.4; margin: 0 0 .3em; padding: 0; width: 100%; }
.bl-quiz legend + label { clear: both; }
.bl-quiz label { display: flex; align-items: baseline; min-height: 24px; padding: .25em 0; cursor: pointer; }
.bl-quiz input { margin-right: .6em; }
.bl-quiz button { font: inherit; min-height: 28px; padding: .1em .9em; border: 1px solid currentColor; border-radius: 6px; background: transparent; color: inherit; cursor: pointer; }
.bl-quiz input:focus-visible, .bl-quiz button:focus-visible { outline: 2px solid; outline-offset: 2px; }
.bl-quiz .bl-why { border-left: 4px solid transparent; margin: .4em 0 0; min-height: 1.5em; padding-left: .6em; }
.bl-quiz .bl-why[data-right="yes"] { border-left-color: #2e7d32; }
.bl-quiz .bl-why[data-right="no"] { border-left-color: #b26a00; }
`;

let made = 0;

function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// `code` in a question or an option; everything else is text, never markup.
function written(text) {
  return text.split(/`([^`]+)`/).map((part, i) =>
    i % 2 ? element("code", { textContent: part }) : document.createTextNode(part));
}

function question(item, number, chosen, keep) {
  const name = `bl-quiz-${++made}`;
  const why = element("p", { className: "bl-why" });
  why.setAttribute("role", "status");
  why.setAttribute("aria-live", "polite");
  const judge = (option) => {
    why.dataset.right = option.right ? "yes" : "no";
    why.replaceChildren(element("strong", { textContent: option.right ? "Right. " : "Not this one. " }),
                        ...written(option.why));
  };
  const check = element("button", { type: "button", textContent: "Check" });
  check.setAttribute("aria-label", `Check question ${number + 1}`);
  let marked = item.options[chosen] ? chosen : undefined;
  const labels = item.options.map((option, i) => {
    const input = element("input", { type: "radio", name, value: String(i), checked: marked === i });
    input.setAttribute("data-lm-suppress-shortcuts", "true"); // else JupyterLab takes the arrow keys
    input.addEventListener("change", () => { // moving through the options judges nothing
      marked = i;
      delete why.dataset.right;
      why.replaceChildren();
    });
    return element("label", {}, [input, element("span", {}, written(option.text))]);
  });
  check.setAttribute("data-lm-suppress-shortcuts", "true");
  check.addEventListener("click", () => {
    if (marked === undefined) { why.textContent = "Choose an answer first."; return; }
    judge(item.options[marked]);
    keep(number, marked);
  });
  if (marked !== undefined) judge(item.options[marked]);
  const legend = element("legend", {}, [`${number + 1}. `, ...written(item.question)]);
  return element("fieldset", {}, [legend, ...labels, check, why]);
}

function render({ model, el }) {
  const items = model.get("items");
  const keep = (number, i) => {
    model.set("chosen", { ...model.get("chosen"), [number]: i });
    model.save_changes();
  };
  const chosen = model.get("chosen") || {};
  const form = element("form", { className: "bl-quiz" },
    items.map((item, number) => question(item, number, chosen[number], keep)));
  form.setAttribute("aria-label", model.get("label"));
  form.addEventListener("submit", (event) => event.preventDefault());
  el.replaceChildren(element("style", { textContent: STYLE }), form);
}

export default { render };
