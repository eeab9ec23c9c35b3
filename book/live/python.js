// The page's side of Python: one worker for all exercises, begun on the first question.
//
//   ask("check", "padding/waste", text)  ->  { state, text }; a run that does not end is ended

const MOST_SECONDS = 20;
const ENDLESS = `No result after ${MOST_SECONDS} seconds: probably a loop that does not end. Python was ended, and starts anew.`;

export class Python {
  #base; #worker = null; #ready = false; #waiting = Promise.resolve();

  constructor(base) { this.#base = base; }

  // What to tell a reader who waits.
  get waits() { return this.#ready ? "Python runs …" : "Python comes to this page (10 MB, once) …"; }

  // One question at a time, in their order.
  ask(what, name, text) {
    const answer = this.#waiting.then(() => this.#answer({ what, name, text }));
    this.#waiting = answer;
    return answer;
  }

  #start() {
    this.#worker ??= new Worker(`${this.#base}worker.js?${LIVE.stamp}`, { type: "module" });
    return this.#worker;
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#ready = false;
  }

  #answer(asked) {
    return new Promise((resolve) => {
      const worker = this.#start();
      let clock = 0;
      const done = (state, text) => { clearTimeout(clock); resolve({ state, text }); };
      const failed = (text) => { this.#end(); done("failed", `Python stopped: ${text}`); };
      worker.onerror = (event) => failed(event.message || "its files could not be loaded.");
      worker.onmessage = ({ data }) => {
        if (data.type === "answer") done(data.state, data.text);
        else if (data.type === "failed") failed(data.text);
        else if (data.type === "started") {
          this.#ready = true;
          clock = setTimeout(() => { this.#end(); done("ended", ENDLESS); this.#start(); }, MOST_SECONDS * 1000);
        }
      };
      worker.postMessage(asked);
    });
  }
}
