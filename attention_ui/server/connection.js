// Says in the reader's language that the connection to the server is lost, until it is back and the page drawn anew: a
// server that was started again knows none of its buttons before. Streamlit knows of that only where the socket was
// closed; where a network swallows what is sent, or the server hangs, a page looks as if nothing were wrong.
(() => {
  const SOON = 2000,
    PATIENCE = 5000; // milliseconds
  const SCRIPT = "data-test-script-state";
  const {
    src,
    dataset: { lost: sentence },
  } = document.currentScript;
  const app = () => document.querySelector('[data-testid="stApp"]')?.dataset ?? {};
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const isConnected = () => app().testConnectionState === "CONNECTED";
  let connected = false,
    lost = false,
    field = null,
    unanswered = false,
    asking = false,
    changed = 0,
    latest = 0;

  const bar = document.createElement("div");
  bar.id = "connection";
  bar.role = "status";
  document.body.append(bar);

  function show() {
    const said = !navigator.onLine || unanswered || lost ? sentence : "";
    if (bar.textContent !== said) bar.textContent = said;
  }

  const answers = () =>
    fetch(src, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).then(
      () => true,
      () => false,
    );

  // A press changes the state of the app at once. Where it does not, it may be one that the server is not told of.
  async function pressed() {
    latest = performance.now();
    if (asking) return;
    asking = true;
    await pause(SOON);
    while (changed < latest && !(await answers())) {
      unanswered = true;
      show();
      await pause(SOON);
    }
    asking = unanswered = false;
    show();
  }

  // Streamlit's own dialog speaks English, and to those who start servers. It is closed before anybody sees it, and
  // Streamlit shows it no more until it has connected again.
  new MutationObserver(() => {
    const dialog = document.querySelector('body > [data-testid="stDialog"]');
    if (!dialog || isConnected()) return;
    dialog.style.display = "none";
    dialog.querySelector('button[aria-label="Close"]')?.click();
  }).observe(document.body, { childList: true });

  // A field that is switched off loses the focus, and without it never hands over what was typed before.
  addEventListener(
    "focusout",
    ({ target }) => {
      if (target.disabled) field = target;
    },
    true,
  );

  function notice(drawn) {
    connected ||= isConnected();
    if (!isConnected()) lost = connected;
    else if (lost && drawn) {
      lost = false;
      if (document.activeElement === document.body) field?.focus({ preventScroll: true });
      field = null;
      show();
    }
  }

  new MutationObserver((changes) => {
    changed = performance.now();
    const ran = changes.some(({ attributeName }) => attributeName === SCRIPT);
    notice(ran && app().testScriptState === "notRunning");
    setTimeout(show, SOON);
  }).observe(document.body, {
    subtree: true,
    attributeFilter: [SCRIPT, "data-test-connection-state"],
  });
  addEventListener("online", show);
  addEventListener("offline", show);
  addEventListener(
    "click",
    (event) => {
      // of a button that the server does not know yet
      if (!lost || !isConnected() || !event.target.closest?.("button")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
  for (const act of ["click", "change"]) document.addEventListener(act, pressed, true);
  // A slider, a list and a shortcut that are worked by keys send neither. While one types, nothing is asked.
  document.addEventListener(
    "keydown",
    ({ key, target }) => {
      if (key === "Enter" || !target.matches("textarea, input:not([type=range])")) pressed();
    },
    true,
  );
})();
