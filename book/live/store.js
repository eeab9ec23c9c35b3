// What this browser keeps of an exercise: its code, points, hints seen. Nothing leaves the browser.

const PREFIX = "batchlab:"; // as in page.js, which counts, exports and forgets it

export function kept(key) {
  try { return JSON.parse(localStorage.getItem(PREFIX + key)) ?? {}; } catch { return {}; }
}

export function keep(key, changes) {
  const value = { ...kept(key), ...changes };
  try { localStorage.setItem(PREFIX + key, JSON.stringify(value)); } catch { /* a browser that keeps nothing */ }
  document.dispatchEvent(new CustomEvent("batchlab"));
  return value;
}
