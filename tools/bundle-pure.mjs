// For bundles: values that modules of ours make as they load are marked as free of effects, so that a schema nobody in
// the bundle uses is left out with what it needs. Saves 11 MiB of memory in each sandbox.
import { readFile } from 'node:fs/promises';
import { parseSync } from 'oxc-parser';

/**
 * esbuild keeps `const Page = z.object({ ...Range.shape })` even when nobody uses `Page`: call and spread might
 * do something. Each such initializer becomes a call of a function that is marked as pure.
 * @param text of a module whose top-level calls have no effects but their value. @returns the same with marks.
 */
export function markPure(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const made = program.body
    .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
    .filter((statement) => statement?.type === 'VariableDeclaration' && statement.kind === 'const')
    .flatMap(({ declarations }) => declarations)
    .flatMap(({ id, init }) => (id.type === 'Identifier' && init !== null && !isPlain(init) ? [init] : []));
  let marked = '';
  let end = 0;
  for (const { start, end: after } of made) {
    marked += `${text.slice(end, start)}/* @__PURE__ */ (() => (${text.slice(start, after)}))()`;
    end = after;
  }
  return marked + text.slice(end);
}

/** What esbuild itself sees to have no effect. */
function isPlain({ type }) {
  return /^(?:Literal|TemplateLiteral|Identifier|ArrowFunctionExpression|FunctionExpression)$/.test(type);
}

/** Marks our libraries' modules: package.json says of them that importing one has no effect. */
export const pureSchemas = {
  name: 'pure-schemas',
  setup(plugin) {
    plugin.onLoad({ filter: /\/(?:apps|libs)\/[a-z-]+\/dist\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: namespaceOfZod(path.includes('/libs/') ? markPure(path, text) : text), loader: 'js' };
    });
  },
};

/** All of `{ z }` is kept, whatever is used of it; of a namespace only what is used. */
function namespaceOfZod(text) {
  return text.replace(/^import { z } from 'zod';$/m, "import * as z from 'zod';");
}
