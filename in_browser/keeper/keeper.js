"use strict";
// Keeps what a learner has written and solved in this browser, and hands it back when the app is opened. It runs nothing
// and asks nobody. The key of a class that this tab leads stays with the tab, for when its page is loaded anew. What it
// has handed back is always what it knows: the page tells it to a server that knows nothing of this visit, too.
const CODE = "attention-lab exercises", SOLVED = "attention-lab progress", FORGOTTEN = "attention-lab forgotten";
const RULED = "attention-lab class";
const VERSION = 1;
const MOST = 20_000, MOST_NAMES = 1000; // characters, names
const KINDS = ["lessons", "exercises", "levels", "homework"];
const NOTHING = JSON.stringify({ solved: Object.fromEntries(KINDS.map((kind) => [kind, []])), ruled: [] });
const tell = (type, more) => parent.postMessage({ isStreamlitMessage: true, type, ...more }, location.origin);
let told = NOTHING, waits, what, word;
// A browser that lets nothing be stored forgets it with the tab, and that is all.
function stored(place) {
  try { return JSON.parse(localStorage.getItem(place)) ?? {}; } catch { return {}; }
}
function store(place, value) {
  try { localStorage.setItem(place, JSON.stringify(value)); } catch {}
}
function keep({ exercise, code }) {
  if (!/^\w{1,40}$/.test(exercise) || typeof code !== "string" || code.length > MOST) return;
  store(CODE, { ...stored(CODE), [exercise]: code });
}
function names(list) {
  return Array.isArray(list) ? list.filter((name) => /^\w{1,40}$/.test(name)).slice(0, MOST_NAMES) : [];
}
function solved() {
  const found = stored(SOLVED);
  return Object.fromEntries(KINDS.map((kind) => [kind, found.version === VERSION ? names(found[kind]) : []]));
}
function add(more) {
  const before = solved();
  const all = Object.fromEntries(KINDS.map((kind) => [kind, names([...new Set([...before[kind], ...names(more?.[kind])])])]));
  if (KINDS.some((kind) => all[kind].length > before[kind].length)) store(SOLVED, { version: VERSION, ...all });
}
function forget(word) {
  // Once for each word: a frame that is loaded again is told the same word, and what was done since then stays.
  try {
    if (!word || sessionStorage.getItem(FORGOTTEN) === word) return;
    sessionStorage.setItem(FORGOTTEN, word);
    for (const place of [CODE, SOLVED]) localStorage.removeItem(place);
    sessionStorage.removeItem(RULED);
  } catch {}
}
function ruled() {
  try {
    const found = JSON.parse(sessionStorage.getItem(RULED));
    return Array.isArray(found) && found.every((one) => /^[\w-]{1,64}$/.test(one)) ? found : [];
  } catch { return []; }
}
function rule(pair) {
  try { if (pair?.length) sessionStorage.setItem(RULED, JSON.stringify(pair)); } catch {}
}
function known() {
  return what === "code" ? { kept: stored(CODE), solved: solved() } : { solved: solved(), ruled: ruled() };
}
function fromEditor(source, data) {
  // The editor is a frame of the page around, and has been told the word of this visit: another site is and has neither.
  const editors = [...parent.document.querySelectorAll("iframe")].filter((frame) => frame.contentWindow === source);
  return editors.length === 1 && word && data.word === word;
}
function answer() {
  // While the page is being drawn, fields that it no longer has would be handed over with the answer, as if just filled.
  clearTimeout(waits);
  const app = parent.document.querySelector('[data-testid="stApp"]');
  if (app?.dataset.testScriptState !== "notRunning") return void (waits = setTimeout(answer, 20));
  const knows = what === "code" ? what : JSON.stringify(known()); // code once: the page has it from then on
  if (knows !== told) tell("streamlit:setComponentValue", { value: known(), dataType: "json" });
  told = knows;
}
addEventListener("message", ({ source, origin, data }) => {
  if (what === "code" && origin === "null" && data?.type === "attention-lab:keep" && fromEditor(source, data)) keep(data);
  if (source !== parent || origin !== location.origin || data?.type !== "streamlit:render") return;
  ({ what, word } = data.args);
  forget(data.args.forget);
  if (what === "progress") { add(data.args.solved); rule(data.args.ruled); }
  answer();
});
tell("streamlit:componentReady", { apiVersion: 1 });
tell("streamlit:setFrameHeight", { height: 0 });
