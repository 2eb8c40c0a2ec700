// Bundles one sandbox process into a single file, so that it starts in well under 200 ms: `node tools/bundle.mjs
// agent-server`, run in the app's folder after `tsc -b`.
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error('usage: bundle.mjs APP');
/** Zod carries its messages in fifty languages; a sandbox speaks English. Saves 4 MiB of memory in each. */
const englishOnly = {
  name: 'english-only',
  setup(plugin) {
    plugin.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

/**
 * What only some sandboxes need is a file of its own, which is read when it is: who does not need it does not hold its
 * text. By the module that is imported then.
 */
const APART = { 'action-server': { './connection.js': 'action-server-mcp' } }[name] ?? {};
const apart = {
  name: 'apart',
  setup(plugin) {
    plugin.onResolve({ filter: /^\.\// }, ({ kind, path }) =>
      kind === 'dynamic-import' && Object.hasOwn(APART, path)
        ? { path: `./${APART[path]}.cjs`, external: true }
        : undefined,
    );
  },
};

const settings = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // Names stay as they are: giving them back to renamed functions (`keepNames`) costs more at each start than reading
  // the longer text.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [englishOnly, apart],
  legalComments: 'external',
  // Native or optional modules stay outside; they are resolved from node_modules at run time.
  external: ['@lydell/node-pty', 'playwright-core', 'bufferutil', 'utf-8-validate', 'pino-pretty'],
  define: { 'import.meta.url': '__importMetaUrl' },
  banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
};
await make('dist/main.js', `bundle/${name}.cjs`);
if (name === 'action-server') await make('dist/mcp/connection.js', 'bundle/action-server-mcp.cjs');

/**
 * One character beyond Latin-1 makes V8 hold the whole text in two bytes a character: 2 MiB more in each sandbox.
 * esbuild escapes them in strings, but not in regular expressions.
 */
async function make(entry, outfile) {
  await build({ ...settings, entryPoints: [entry], outfile });
  const wide = /.{0,60}[^\0-\xff].{0,20}/.exec(await readFile(outfile, 'utf8'));
  if (wide !== null) throw new Error(`${outfile}: write as \\u escape what is beyond Latin-1: ${wide[0]}`);
}
