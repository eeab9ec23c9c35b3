// The editor of an exercise: CodeMirror 6 with Python, coloured by the page's own sheet for code.
//
//   a place in the page, a text  ->  { text(), write(text), focus() }

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { pythonLanguage } from "@codemirror/lang-python";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags as t } from "@lezer/highlight";

// names of the classes that Pygments gives, so that both themes are those of every other cell
const COLOURS = tagHighlighter([
  { tag: t.keyword, class: "k" },
  { tag: [t.operatorKeyword, t.logicOperator], class: "ow" },
  { tag: [t.bool, t.null], class: "kc" },
  { tag: [t.string, t.special(t.string)], class: "s2" },
  { tag: t.number, class: "mi" },
  { tag: t.comment, class: "c1" },
  { tag: [t.function(t.definition(t.variableName)), t.definition(t.className)], class: "nf" },
  { tag: [t.arithmeticOperator, t.compareOperator, t.definitionOperator], class: "o" },
]);

export function edit(place, text, { label, about, changed, keys }) {
  place.addEventListener("keydown", (event) => event.stopPropagation()); // "/" is no search here
  const own = Object.entries(keys).map(([key, run]) => ({ key, run: () => (run(), true) }));
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([...own, indentWithTab, ...historyKeymap, ...defaultKeymap]),
        history(), lineNumbers(), indentOnInput(), bracketMatching(), indentUnit.of("    "),
        pythonLanguage, syntaxHighlighting(COLOURS), ...(matchMedia("(max-width: 700px)").matches ? [EditorView.lineWrapping] : []),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": about, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    write: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    focus: () => view.focus(),
  };
}
