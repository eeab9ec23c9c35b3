// Python in a worker: no kernel, no other host. The page ends a run by ending this worker.
//
//   { what, name, text }  ->  "started", then { state, text } of batchlab.exercises.answered,
//   or of batchlab.cli.told
//
// The files come on the first question; LIVE, their names, is put in when the book is built.

const base = new URL("./", self.location).href;
const runtime = base + LIVE.runtime;
const fetched = globalThis.fetch;
const unpacked = new Map();

// Pyodide asks for these by their own names; here they lie under others.
globalThis.fetch = (address, options) => {
  const found = unpacked.get(String(address?.url ?? address));
  return found ? Promise.resolve(found()) : fetched(address, options);
};

async function got(address) {
  const answer = await fetched(address);
  if (!answer.ok) throw new Error(`${answer.status} for ${address}`);
  return answer;
}

// Most hosts send a .wasm as it is, 9.6 MB: ours is packed, and is unpacked here.
async function fetchWasm() {
  const answer = await got(`${runtime}pyodide.asm.wasmz`);
  const bytes = await new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const headers = { "Content-Type": "application/wasm" };
  unpacked.set(`${runtime}pyodide.asm.wasm`, () => new Response(bytes, { headers }));
}

async function start() {
  const [{ loadPyodide }, library] = await Promise.all([
    import(`${runtime}pyodide.mjs`),
    got(base + LIVE.library).then((answer) => answer.arrayBuffer()),
    fetchWasm(),
  ]);
  const python = await loadPyodide({ indexURL: runtime, lockFileURL: `${runtime}lock.json`, packages: ["numpy"] });
  python.unpackArchive(library, "zip", { extractDir: "/course" });
  python.runPython(`
import json, sys
sys.path.insert(0, "/course")

def asked(what, name, text):
    if what == "verb":  # name and text are the words of a command line and the files it reads
        from batchlab.cli import told
        return json.dumps(told(json.loads(name), json.loads(text)))
    from batchlab.exercises import answered
    return json.dumps(answered(what, name, text))
`);
  return python.globals.get("asked");
}

const answered = start();
answered.catch(() => {}); // told to whoever asks

self.onmessage = async ({ data }) => {
  try {
    const answer = await answered;
    postMessage({ type: "started" });
    postMessage({ type: "answer", ...JSON.parse(answer(data.what, data.name, data.text)) });
  } catch (error) { // its files did not come, or its memory is full
    postMessage({ type: "failed", text: String(error).trim().split("\n").at(-1) });
  }
};
