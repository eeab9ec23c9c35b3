// One exercise in the page: editor, buttons, what Python said, points.
//
//   <section class="bl-exercise">, laid out by book/_ext/live.py  ->  a box that works

import { keep, kept } from "./store.js";

const LINE = /^(asked|got|likely|try) +(.*)$/; // batchlab/classroom/verdict.py

export function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

export class Box {
  #editor = null; #opening = null; #busy = false;

  constructor(section, python, openEditor) {
    this.section = section;
    this.python = python;
    this.openEditor = openEditor;
    this.name = section.dataset.exercise.split("/")[1];
    this.points = Number(section.dataset.points);
    this.key = section.dataset.key;
    this.blank = section.querySelector(".bl-blank");
    this.stub = this.blank.querySelector("pre").textContent.trimEnd();
    this.hints = [...section.querySelectorAll(".bl-hints > li")];
    this.drawn = [...document.querySelectorAll(`.bl-from-${this.name} > .cell_output`)];
    this.#layOut();
    this.#cover();
  }

  get code() { return this.#editor?.text() ?? kept(this.key).code ?? this.stub; }

  // The editor comes when the box is seen or first touched.
  open() {
    this.#opening ??= this.openEditor().then(({ edit }) => {
      const place = element("div", { className: "bl-editor highlight" });
      this.#editor = edit(place, this.code, {
        label: `Your ${this.name}`, about: this.about.id, changed: () => this.#changed(),
        keys: { "Mod-Enter": () => this.ask("check"), "Shift-Enter": () => this.ask("run") },
      });
      this.blank.replaceWith(place);
    });
    return this.#opening;
  }

  async write(code) {
    await this.open();
    this.#editor.write(code);
  }

  async ask(what) {
    if (this.#busy) return;
    await this.open();
    this.#busy = true;
    this.section.setAttribute("aria-busy", "true");
    this.#say("waits", this.python.waits);
    const { state, text } = await this.python.ask(what, this.section.dataset.exercise, this.code);
    this.#busy = false;
    this.section.removeAttribute("aria-busy");
    if (state === "right") keep(this.key, { points: this.points });
    this.#say(state, text);
    this.#badge();
  }

  #layOut() {
    const button = (text, act) => {
      const made = element("button", { type: "button", textContent: text, ariaLabel: `${text} ${this.name}` });
      made.dataset.does = text.toLowerCase();
      made.addEventListener("click", act);
      return made;
    };
    this.hint = button("Hint", () => this.#hint());
    const buttons = [button("Run", () => this.ask("run")), button("Check", () => this.ask("check"))];
    if (this.hints.length) buttons.push(this.hint);
    buttons.push(button("Reset", () => this.#reset()));
    this.about = element("span", {
      id: `bl-about-${this.name}`, className: "bl-about",
      textContent: "Ctrl+Enter checks, Shift+Enter runs; Esc and then Tab leaves the editor.",
    });
    this.said = element("div", { className: "bl-said" });
    this.said.setAttribute("role", "status");
    this.blank.after(element("div", { className: "bl-buttons" }, [...buttons, this.about]), this.said);
    this.badge = this.section.querySelector(".bl-badge");
    for (let seen = kept(this.key).hints ?? 0; seen > 0; seen -= 1) this.#hint();
    this.#badge();
  }

  // What the cells below draw is of a right answer: it shows when there is one, or was looked up.
  #cover() {
    const answer = this.section.querySelector("details.hide");
    const note = element("p", { className: "bl-cover", textContent: `What ${this.name} gives is drawn here once it is right, or when you have opened an answer.` });
    const draw = () => {
      const open = Boolean(kept(this.key).points) || Boolean(answer?.open);
      for (const one of this.drawn) one.classList.toggle("bl-covered", !open);
      if (open) note.remove();
      else this.drawn[0]?.prepend(note);
    };
    answer?.addEventListener("toggle", draw);
    document.addEventListener("batchlab", draw);
    draw();
  }

  #changed() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.save(), 300);
  }

  save() {
    const touched = this.code !== this.stub || kept(this.key).code !== undefined;
    if (this.#editor && touched) keep(this.key, { code: this.code });
  }

  #badge() {
    const { points: done, code } = kept(this.key);
    const points = this.points === 1 ? "1 point" : `${this.points} points`;
    this.badge.textContent = done ? `✓ ${points}` : code !== undefined && code !== this.stub ? `begun, ${points}` : points;
    this.badge.classList.toggle("bl-done", Boolean(done));
  }

  #hint() {
    const hidden = this.hints.filter((one) => one.hidden);
    if (!hidden.length) return;
    hidden[0].hidden = false;
    hidden[0].parentElement.hidden = false;
    keep(this.key, { hints: this.hints.length - hidden.length + 1 });
    this.hint.disabled = hidden.length === 1;
  }

  async #reset() {
    if (this.code !== this.stub && !confirm(`Put the blank of ${this.name} back? Your code is then gone.`)) return;
    await this.write(this.stub);
    keep(this.key, { code: undefined, points: undefined });
    this.#say("", "");
    this.#badge();
  }

  #say(state, text) {
    this.said.dataset.state = state;
    const lines = text.split("\n").map((line) => LINE.exec(line));
    if (state === "wrong" && lines.every(Boolean)) {
      const parts = lines.flatMap(([, word, rest]) => [element("dt", { textContent: word }), element("dd", { textContent: rest, className: `bl-${word}` })]);
      this.said.replaceChildren(element("dl", {}, parts));
    } else this.said.replaceChildren(...(text ? [element("pre", { textContent: text })] : []));
  }
}
