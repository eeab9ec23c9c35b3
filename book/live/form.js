// One verb of the command line as a form: its words by fields, files from the reader, what it prints.
//
//   <form class="bl-run">, laid out by book/_ext/run.py  ->  a form that runs; its setting is in the
//   address, and the command line that gives the same stands beside the result

import { element } from "./box.js";

const MOST = 4000; // letters of a pasted file that an address holds

export class Form {
  #files = new Map(); // by field: what was opened there, name to text

  constructor(form, python) {
    this.form = form;
    this.python = python;
    this.verb = form.dataset.verb;
    this.said = element("div", { className: "bl-said" });
    this.said.setAttribute("role", "status");
    this.line = element("code");
    this.copy = element("button", { type: "button", textContent: "Copy" });
    this.copy.addEventListener("click", () => navigator.clipboard?.writeText(this.line.textContent));
    form.append(element("p", { className: "bl-command" }, [this.line, this.copy]), this.said);
    for (const one of form.querySelectorAll("input[type=file]")) this.#takesFiles(one);
    for (const one of form.querySelectorAll("[data-example]")) {
      one.addEventListener("click", () => {
        const field = form.elements[one.dataset.of];
        field.value = one.dataset.example;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
    }
    form.addEventListener("submit", (event) => { event.preventDefault(); this.run(); });
    form.addEventListener("input", () => this.#show());
    addEventListener("hashchange", () => this.#read());
    this.#read();
    this.#show();
  }

  async run() {
    const { words, files } = this.#asked();
    const lacking = this.#fields.find((one) => one.dataset.needed !== undefined && !Object.keys(files).length);
    if (lacking) {
      this.#say("error", "Open a file first, or take ours.");
      lacking.focus();
      return;
    }
    history.replaceState(null, "", this.#address());
    this.form.setAttribute("aria-busy", "true");
    this.#say("waits", this.python.waits);
    const { state, text } = await this.python.ask("verb", JSON.stringify(words), JSON.stringify(files));
    this.form.removeAttribute("aria-busy");
    this.#say(state, text);
  }

  get #fields() { return [...this.form.querySelectorAll("[data-word]")]; }

  // The words of the command line, and the files that they name.
  #asked() {
    const words = [this.verb], files = {};
    for (const field of this.#fields) {
      const { word, file } = field.dataset, text = field.value.trim();
      if (file !== undefined) {
        const opened = this.#files.get(field) ?? (text ? { [nameOf(file, text)]: `${text}\n` } : {});
        Object.assign(files, opened);
        if (Object.keys(opened).length) words.push(...(word ? [word] : []), ...Object.keys(opened));
      } else if (text && text !== field.dataset.given) words.push(word, ...text.split(/\s+/));
    }
    return { words, files };
  }

  #show() {
    this.line.textContent = ["batchlab", ...this.#asked().words].map(quoted).join(" ");
  }

  // The whole setting; a file that was opened stays in the reader's hands.
  #address() {
    const kept = new URLSearchParams();
    for (const field of this.#fields) {
      const text = field.value.trim();
      if (text && text !== (field.dataset.given ?? "") && text.length <= MOST) kept.set(field.name, text);
    }
    return `#${this.form.id}?${kept}`;
  }

  #read() {
    const [id, rest] = location.hash.slice(1).split("?");
    if (id !== this.form.id) return;
    const kept = new URLSearchParams(rest ?? "");
    for (const field of this.#fields) if (kept.has(field.name)) field.value = kept.get(field.name);
    this.#show();
    this.form.scrollIntoView();
  }

  #takesFiles(input) {
    const field = this.form.elements[input.dataset.of];
    const take = async (given) => {
      const read = await Promise.all([...given].map(async (one) => [one.name, await one.text()]));
      if (!read.length) return;
      this.#files.set(field, Object.fromEntries(read));
      field.value = "";
      field.placeholder = `opened, and not sent anywhere: ${read.map(([name]) => name).join(", ")}`;
      this.#show();
    };
    input.addEventListener("change", () => take(input.files));
    field.addEventListener("input", () => this.#files.delete(field));
    field.addEventListener("dragover", (event) => event.preventDefault());
    field.addEventListener("drop", (event) => { if (event.dataTransfer.files.length) { event.preventDefault(); take(event.dataTransfer.files); } });
  }

  #say(state, text) {
    this.said.dataset.state = state;
    const shown = element("pre", { textContent: text });
    if (state === "ran") shown.tabIndex = 0; // a wide table scrolls
    this.said.replaceChildren(shown);
  }
}

// A config says by its text what it is.
function nameOf(names, text) {
  const { json, shell, other } = Object.fromEntries(names.split(" ").map((one) => one.split("=")));
  if (json && /^[{[]/.test(text)) return json;
  if (shell && /(^|\s)--?[a-z]/m.test(text) && !/^\s*[\w-]+:/m.test(text)) return shell;
  return other;
}

function quoted(word) { return /^[\w./=-]+$/.test(word) ? word : `'${word}'`; }
