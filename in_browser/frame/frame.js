/** Shows a page of this server that has an origin of its own, hands it what it is given, and on what it sends. */
const frames = new WeakMap();

/** Streamlit calls this when the frame comes onto the page, and whenever its data change. */
export default function ({ data, parentElement, setStateValue }) {
  const { frame, hand } = frames.get(parentElement) ?? made(data, parentElement);
  frame.given = data.given;
  frame.send = setStateValue; // the last one: the one before may speak for a widget that is gone
  hand();
}

function made({ page, title }, place) {
  const frame = document.createElement("iframe");
  let ready = false;
  const hand = () =>
    ready &&
    frame.contentWindow?.postMessage({ type: "attention-lab:given", given: frame.given }, "*");
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data?.type === "attention-lab:ready") {
      ready = true;
      hand();
    }
    if (data?.type === "attention-lab:height" && Number.isFinite(data.height))
      frame.style.height = `${data.height}px`;
    if (data?.type === "attention-lab:sent") frame.send("sent", data.sent);
  };
  addEventListener("message", listen);
  frame.title = title;
  frame.src = page;
  frame.sandbox = "allow-scripts";
  Object.assign(frame.style, { display: "block", width: "100%", height: "0", border: "0" });
  place.append(frame);
  const both = { frame, hand };
  frames.set(place, both);
  return both;
}
