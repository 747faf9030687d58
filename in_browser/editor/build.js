// Puts CodeMirror and editor.js into one file, bundle.js: `npm ci && npm run build` in this folder.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { build } from "esbuild";

const { dependencies } = JSON.parse(await readFile("package.json"));
const named = Object.entries(dependencies)
  .map(([name, version]) => `${name} ${version}`)
  .join(", ");
const licence = (
  await readFile(
    createRequire(import.meta.url)
      .resolve("@codemirror/view")
      .replace(/dist.*/, "LICENSE"),
  )
).toString();

// Where there is a <head>, styles come as <style>, which the policy of the page refuses; sheets that a script makes it
// does not.
const asSheets = {
  name: "styles as sheets",
  setup({ onLoad }) {
    onLoad({ filter: /style-mod\.js$/ }, async ({ path }) => {
      const text = (await readFile(path)).toString();
      if (!text.includes("if (!root.head && root.adopted"))
        throw new Error("style-mod decides in another way by now");
      return { contents: text.replace("if (!root.head && root.adopted", "if (root.adopted") };
    });
  },
};
await build({
  entryPoints: ["editor.js"],
  outfile: "bundle.js",
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  globalName: "editing",
  banner: { js: `/* ${named}\n\n${licence.trim()}\n*/` },
  plugins: [asSheets],
});
const hash = createHash("sha256")
  .update(await readFile("bundle.js"))
  .digest("hex");
await writeFile("bundle.js.sha256", `${hash}  bundle.js\n`);
