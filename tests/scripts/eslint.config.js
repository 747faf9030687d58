import js from "@eslint/js";
import globals from "globals";

const inPages = ["in_browser/{keeper,frame,figures,editor}/*.js", "attention_ui/server/*.js"];
// Joined with others before they run: they define names for each other, and have no imports.
const joined = ["in_browser/{before,page,worker}.js", "in_browser/library/*.js"];

export default [
  { ignores: ["in_browser/editor/bundle.js"] },
  js.configs.recommended,
  { files: inPages, languageOptions: { globals: globals.browser } },
  { files: ["in_browser/editor/build.js"], languageOptions: { globals: globals.node } },
  { files: ["attention_ui/server/*.js"], languageOptions: { sourceType: "script" } },
  {
    files: joined,
    languageOptions: { sourceType: "script", globals: { ...globals.browser, ...globals.worker } },
    rules: {
      "no-unused-vars": "off",
      "no-undef": "off",
      "no-redeclare": ["error", { builtinGlobals: false }],
    },
  },
  { rules: { "no-empty": ["error", { allowEmptyCatch: true }] } },
];
