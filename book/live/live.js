// Exercises of a lesson that run in its page. Nothing of Python is fetched before the first Run.
//
//   every <section class="bl-exercise">  ->  a Box; the line under the title  ->  export and import
//   every <form class="bl-run">          ->  a Form, which runs a verb of the command line

import { Box, element } from "./box.js";
import { answersOf, withAnswers } from "./notebook.js";
import { Python } from "./python.js";
import { Form } from "./form.js";

const base = new URL("./", document.currentScript.src).href;
const SERVED = "This page was opened as a file. Its exercises run where it is served: `batchlab book` in the folder of the course.";

function start() {
  const sections = [...document.querySelectorAll(".bl-exercise[data-key]")];
  if (location.protocol === "file:") {
    for (const one of sections) one.querySelector(".bl-blank").after(element("p", { className: "bl-about", textContent: SERVED }));
    for (const one of document.querySelectorAll("form.bl-run")) one.append(element("p", { className: "bl-about", textContent: SERVED }));
    return;
  }
  const python = new Python(base);
  let editor = null;
  const openEditor = () => (editor ??= import(`${base}editor.js?${LIVE.stamp}`));
  const boxes = sections.map((one) => new Box(one, python, openEditor));
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      boxes[sections.indexOf(target)].open();
    }
  }, { rootMargin: "200px" });
  for (const one of sections) seen.observe(one);
  addEventListener("pagehide", () => boxes.forEach((one) => one.save()));
  if (boxes.length) offer(boxes);
  for (const one of document.querySelectorAll("form.bl-run")) new Form(one, python);
}

// Export and import of the notebook, beside the button that downloads it.
function offer(boxes) {
  const place = document.querySelector(".bl-start");
  if (!place) return;
  const said = element("span", { className: "bl-moved" });
  said.setAttribute("role", "status");
  const give = element("button", { type: "button", textContent: "Export with my answers" });
  give.addEventListener("click", () => exported(boxes).then((name) => { said.textContent = `${name} is yours.`; }, (error) => { said.textContent = error.message; }));
  const file = element("input", { type: "file", accept: ".ipynb", hidden: true });
  const take = element("button", { type: "button", textContent: "Import answers" });
  take.addEventListener("click", () => file.click());
  file.addEventListener("change", () => imported(boxes, file).then((many) => { said.textContent = `Answers read: ${many}.`; }, (error) => { said.textContent = error.message; }));
  place.after(element("p", { className: "bl-start bl-move" }, [give, take, file, said]));
}

async function exported(boxes) {
  const address = document.querySelector(".bl-start a[download]").href;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The notebook could not be loaded: ${answer.status}.`);
  const codes = Object.fromEntries(boxes.filter((one) => one.code !== one.stub).map((one) => [one.name, one.code]));
  const filled = withAnswers(await answer.json(), codes);
  const name = address.split("/").at(-1);
  const given = URL.createObjectURL(new Blob([JSON.stringify(filled, null, 1)], { type: "application/x-ipynb+json" }));
  element("a", { href: given, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(given), 1000);
  return name;
}

async function imported(boxes, input) {
  const codes = answersOf(await input.files[0].text());
  input.value = ""; // the same file may come again
  const known = boxes.filter((one) => codes[one.name] !== undefined && codes[one.name].trimEnd() !== one.stub);
  await Promise.all(known.map((one) => one.write(codes[one.name])));
  return known.length;
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
