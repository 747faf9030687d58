/**
 * Keeps what a learner has written and solved in this browser, and hands it back when the app is opened. It runs nothing
 * and asks nobody. The key of a class that this tab leads stays with the tab, for when its page is loaded anew. What it
 * has handed back is always what it knows: the page tells it to a server that knows nothing of this visit, too.
 */
const CODE = "attention-lab exercises",
  SOLVED = "attention-lab progress",
  FORGOTTEN = "attention-lab forgotten";
const RULED = "attention-lab class";
const VERSION = 1;
const MOST = 20_000,
  MOST_NAMES = 1000; // characters, names
const KINDS = ["lessons", "exercises", "levels", "homework"];
const NOTHING = JSON.stringify({
  solved: Object.fromEntries(KINDS.map((kind) => [kind, []])),
  ruled: [],
});
const told = new WeakMap(); // what each keeper on the page has handed back
let word; // by which the editor of this visit is known

/** Streamlit calls this when a keeper comes onto the page, and whenever its data change. */
export default function ({ data, parentElement, setStateValue }) {
  forget(data.forget);
  if (data.what === "code") word = data.word;
  else {
    add(data.solved);
    rule(data.ruled);
  }
  answer(data.what, parentElement, setStateValue);
}

/** While the page is drawn, fields that it no longer has would be handed over with the answer, as if just filled. */
function answer(what, place, setStateValue) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (app?.dataset.testScriptState !== "notRunning")
    return void setTimeout(answer, 20, what, place, setStateValue);
  const known =
    what === "code"
      ? { kept: stored(CODE), solved: solved() }
      : { solved: solved(), ruled: ruled() };
  const knows = what === "code" ? what : JSON.stringify(known); // code once: the page has it from then on
  if (!place.isConnected || knows === (told.get(place) ?? NOTHING)) return;
  told.set(place, knows);
  setStateValue("known", known);
}

// A browser that lets nothing be stored forgets it with the tab, and that is all.
function stored(place) {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? {};
  } catch {
    return {};
  }
}

function store(place, value) {
  try {
    localStorage.setItem(place, JSON.stringify(value));
  } catch {}
}

function keep({ exercise, code }) {
  if (!/^\w{1,40}$/.test(exercise) || typeof code !== "string" || code.length > MOST) return;
  store(CODE, { ...stored(CODE), [exercise]: code });
}

function names(list) {
  return Array.isArray(list)
    ? list.filter((name) => /^\w{1,40}$/.test(name)).slice(0, MOST_NAMES)
    : [];
}

function solved() {
  const found = stored(SOLVED);
  return Object.fromEntries(
    KINDS.map((kind) => [kind, found.version === VERSION ? names(found[kind]) : []]),
  );
}

function add(more) {
  const before = solved();
  const both = (kind) => names([...new Set([...before[kind], ...names(more?.[kind])])]);
  const all = Object.fromEntries(KINDS.map((kind) => [kind, both(kind)]));
  if (KINDS.some((kind) => all[kind].length > before[kind].length))
    store(SOLVED, { version: VERSION, ...all });
}

/** Once for each word: a page that is loaded again is told the same word, and what was done since then stays. */
function forget(asked) {
  try {
    if (!asked || sessionStorage.getItem(FORGOTTEN) === asked) return;
    sessionStorage.setItem(FORGOTTEN, asked);
    for (const place of [CODE, SOLVED]) localStorage.removeItem(place);
    sessionStorage.removeItem(RULED);
  } catch {}
}

function ruled() {
  try {
    const found = JSON.parse(sessionStorage.getItem(RULED));
    return Array.isArray(found) && found.every((one) => /^[\w-]{1,64}$/.test(one)) ? found : [];
  } catch {
    return [];
  }
}

function rule(pair) {
  try {
    if (pair?.length) sessionStorage.setItem(RULED, JSON.stringify(pair));
  } catch {}
}

/** The editor is a frame of this page, and has been told the word of this visit: another site is and has neither. */
function isFromEditor(source, data) {
  const editors = [...document.querySelectorAll("iframe")].filter(
    (frame) => frame.contentWindow === source,
  );
  return editors.length === 1 && word && data.word === word;
}

addEventListener("message", ({ source, origin, data }) => {
  if (origin === "null" && data?.type === "attention-lab:keep" && isFromEditor(source, data))
    keep(data);
});
