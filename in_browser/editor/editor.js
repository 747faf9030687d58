// The editor of the exercises: CodeMirror with what a learner of Python needs, and no more.
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  isolateHistory,
} from "@codemirror/commands";
import {
  bracketMatching,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { mkPython } from "@codemirror/legacy-modes/mode/python";
import { EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutterLineClass,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

const INDENT = 4;
const python = StreamLanguage.define(mkPython({ extra_keywords: ["None", "True", "False"] }));
const classes = tagHighlighter(
  [tags.keyword, tags.comment, tags.string, tags.number].map((tag, at) => ({
    tag,
    class: ["keyword", "comment", "string", "number"][at],
  })),
);

// --- the line on which a run stopped: marked until something is typed
const mark = StateEffect.define();
const wrongNumber = new (class extends GutterMarker {
  elementClass = "wrong";
})();
const wrongLine = StateField.define({
  create: () => null,
  update(line, { docChanged, effects }) {
    const asked = effects.find((effect) => effect.is(mark));
    return asked ? asked.value : docChanged ? null : line;
  },
  provide: (field) => {
    const at = (what) => (state) => {
      const line = state.field(field);
      return line > 0 && line <= state.doc.lines
        ? RangeSet.of([what.range(state.doc.line(line).from)])
        : RangeSet.empty;
    };
    return [
      EditorView.decorations.compute([field, "doc"], at(Decoration.line({ class: "wrong-line" }))),
      gutterLineClass.compute([field, "doc"], at(wrongNumber)),
    ];
  },
});

// --- Tab indents, Escape and then Tab leaves; each can be undone by itself
const alone = (command) => (view) =>
  command({
    state: view.state,
    dispatch: ({ changes, selection }) =>
      view.dispatch({ changes, selection, annotations: isolateHistory.of("full") }),
  });
function tab({ state, dispatch }) {
  const { main, ranges } = state.selection;
  if (ranges.length > 1 || !main.empty) return indentMore({ state, dispatch });
  const column = main.head - state.doc.lineAt(main.head).from;
  dispatch(state.update(state.replaceSelection(" ".repeat(INDENT - (column % INDENT)))));
  return true;
}

// What takes the place of a selection is put there by us: the browser would copy the style of the first word into it.
function replaceSelected(event, view) {
  if (event.inputType !== "insertText" || event.data === null || view.composing) return false;
  const { from, to } = view.state.selection.main.empty
    ? selectedOnPage(view)
    : view.state.selection.main;
  if (from === to) return false;
  event.preventDefault();
  const changes = { from, to, insert: view.state.toText(event.data) };
  view.dispatch({
    changes,
    selection: { anchor: from + changes.insert.length },
    userEvent: "input.type",
    scrollIntoView: true,
  });
  return true;
}
function selectedOnPage(view) {
  const selection = getSelection(),
    range = selection.rangeCount && selection.getRangeAt(0); // which may be new to CodeMirror
  if (!range || !view.contentDOM.contains(range.commonAncestorContainer)) return { from: 0, to: 0 };
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}

export function makeEditor(parent, { changed, run, left }) {
  let label = "";
  const extensions = [
    keymap.of([
      { key: "Mod-Enter", run: () => (run(), true) },
      { key: "Ctrl-Enter", run: () => (run(), true) },
      { key: "Tab", run: alone(tab), shift: alone(indentLess) },
      ...defaultKeymap,
      ...historyKeymap,
    ]),
    lineNumbers(),
    history(),
    bracketMatching(),
    indentUnit.of(" ".repeat(INDENT)),
    EditorState.tabSize.of(INDENT),
    python,
    syntaxHighlighting(classes),
    wrongLine,
    EditorView.contentAttributes.of(() => ({
      id: "code",
      "aria-label": label,
      "aria-describedby": "keys",
    })),
    EditorView.updateListener.of(({ docChanged }) => docChanged && changed()),
    EditorView.domEventHandlers({ beforeinput: replaceSelected, blur: () => left() }),
  ];
  const state = (doc) => EditorState.create({ doc, extensions });
  const view = new EditorView({ parent, state: state("") });
  return {
    text: () => view.state.doc.toString(),
    open: (text) => view.setState(state(text)), // with nothing to undo
    // As one step that can be undone.
    replace: (text) =>
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        selection: { anchor: 0 },
      }),
    mark: (line) => view.dispatch({ effects: mark.of(line) }),
    label: (text) => {
      label = text;
      view.dispatch({});
    },
    focus: () => view.focus(),
  };
}
