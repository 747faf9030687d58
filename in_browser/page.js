"use strict";
const $ = (id) => document.getElementById(id);
const { worker, library, most } = JSON.parse($("parts").textContent);
const address = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
const LONGEST_ANSWER = 200_000;
const MOST_UNASKED = 10; // messages and errors of one run: what sends without end would keep this page from its clock
const PAUSE = 300; // milliseconds without a key, after which what was written is kept
let words = {},
  said = "loading",
  python,
  ready,
  booted,
  sent,
  timer,
  pause,
  task,
  touched,
  runs = 0,
  unasked = 0;

// --- the worker: a fresh one for every run, for a learner's code may change anything inside it
function boot() {
  booted = performance.now();
  python = new Worker(address);
  python.onerror = (event) => {
    event.preventDefault();
    status("broken", { why: event.message });
    count();
  };
  python.onmessage = ({ data }) => {
    if (data?.ready && !ready && !timer) begin();
    else if (timer && typeof data?.answer === "string")
      end(data.answer.slice(0, LONGEST_ANSWER), "ran");
    else count();
  };
  python.postMessage({ library });
}
function count() {
  unasked += 1;
  if (timer && unasked > MOST_UNASKED)
    end(failure("RuntimeError", "the code sent messages that nobody asked for"), "stopped");
}
function failure(type, message) {
  return JSON.stringify({ error: { type, message, line: null } });
}
function begin() {
  ready = true;
  performance.measure("boot", { start: booted });
  $("run").disabled = !task;
  if (!runs) status("ready");
}
function run() {
  if ($("run").disabled) return;
  const code = editor.text(),
    refusal = unfit(code);
  if (refusal) return status(...refusal);
  $("run").disabled = true;
  keep();
  runs += 1;
  unasked = 0;
  editor.mark(null);
  status("running");
  const asked = task; // the learner may go to another exercise meanwhile
  timer = setTimeout(() => end(failure("TimeLimit", ""), "stopped"), task.limit);
  sent = { at: performance.now(), exercise: asked.exercise, seed: asked.seed, code };
  python.postMessage({ code: sent.code, job: asked.job, aside: asked.aside ?? [] });
}
function end(answer, word) {
  performance.measure("run", { start: sent.at });
  clearTimeout(timer);
  timer = null;
  ready = false;
  python.onmessage = python.onerror = null; // what it has sent already may still be on its way
  python.terminate();
  status(word);
  if (sent.exercise === task.exercise) editor.mark(line(answer));
  tell("sent", { sent: { exercise: sent.exercise, seed: sent.seed, answer, code: sent.code } });
  setTimeout(boot, 500); // the verdict first
}
function line(answer) {
  try {
    return JSON.parse(answer).error?.line ?? null;
  } catch {
    return null;
  }
}
function unfit(text) {
  const here = document.documentElement.lang;
  if (text.length > most)
    return ["long", { count: text.length.toLocaleString(here), most: most.toLocaleString(here) }];
  const found = /[^\P{Cc}\n\t]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u.exec(text);
  if (!found) return null;
  const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return ["unseen", { line: text.slice(0, found.index).split("\n").length, code: `U+${code}` }];
}

// --- what is written
const editor = editing.makeEditor($("editor"), { changed, run, left: keep });
function changed() {
  touched = true;
  clearTimeout(pause);
  pause = setTimeout(keep, PAUSE);
}
function keep() {
  // Straight to the page around, which keeps it: the app is asked only when something has run.
  clearTimeout(pause);
  const code = editor.text();
  if (!touched || !task || code.length > most) return;
  const { origin } = new URL(location.href);
  parent.postMessage(
    { type: "attention-lab:keep", word: task.word, exercise: task.exercise, code },
    origin,
  );
}
function open(code) {
  touched = false;
  editor.open(code);
  $("editor").style.setProperty(
    "--height",
    `${Math.min(Math.max(code.split("\n").length + 2, 12), 20) * 1.35 + 1.2}rem`,
  );
}

// --- the app: the page around hands over what is asked, and hands on what was found (frame/frame.js)
const tell = (type, more) => parent.postMessage({ type: `attention-lab:${type}`, ...more }, "*");
const filled = (name, values = {}) =>
  (words[name] ?? "").replace(/\{(\w+)\}/g, (_, key) => values[key]);
function status(name, values) {
  said = name;
  $("status").textContent = filled(name, values);
}
function label() {
  // The app sends all that is said here, in the reader's language.
  document.documentElement.lang = task.lang;
  words = task.words;
  editor.label(words.code);
  $("run").textContent = words.run;
  $("reset").textContent = words.reset;
  const keys = words.keys.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? pressed(part) : part));
  $("keys").replaceChildren(...keys);
  status(said);
}
function pressed(key) {
  const made = document.createElement("kbd");
  made.textContent = words[key];
  return made;
}
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.type !== "attention-lab:given") return;
  const before = task;
  task = data.given;
  if (!before) label();
  document.documentElement.classList.toggle("dark", Boolean(task.dark));
  document.documentElement.classList.toggle("large", Boolean(task.large));
  if (
    before?.exercise !== task.exercise ||
    before.forget !== task.forget ||
    (!touched && editor.text() !== task.code)
  )
    open(task.code);
  $("run").disabled = !ready || Boolean(timer);
});
new ResizeObserver(() => tell("height", { height: document.body.offsetHeight + 2 })).observe(
  document.body,
);
$("run").onclick = run;
$("reset").onclick = () => {
  editor.replace(task.starter);
  editor.focus();
};
tell("ready");
boot();
