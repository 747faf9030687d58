// One step of the browser's history for each visit of a page. Streamlit adds one whenever the server changes what the
// address says, so that Back would first undo changes that nobody made, and nothing would seem to happen. And on the way
// to another page it writes what that page says into the address of the one before, which keeps its own here.
(() => {
  const { pushState, replaceState } = history;
  const path = (url) => new URL(url, document.baseURI).pathname;
  const keep = () => (own = location.href);
  const running = () =>
    document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "notRunning";
  let own = location.href; // what the address of this page said when it was last drawn, or a control last changed it

  history.pushState = (state, title, url) => {
    if (path(url) === location.pathname) return replaceState.call(history, state, title, url);
    if (path(own) === location.pathname) replaceState.call(history, history.state, "", own);
    pushState.call(history, state, title, url);
    keep();
  };
  history.replaceState = (state, title, url) => {
    replaceState.call(history, state, title, url);
    if (url?.startsWith(location.origin)) keep(); // a control: what the server sends begins with the path
  };
  addEventListener("popstate", keep);
  new MutationObserver(() => {
    if (!running()) keep();
  }).observe(document.body, { subtree: true, attributeFilter: ["data-test-script-state"] });
})();
