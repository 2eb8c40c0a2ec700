// Bundles one sandbox process into a single file, so that it starts in well under 200 ms: `node tools/bundle.mjs
// agent-server`, run in the app's folder after `tsc -b`.
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
await build({ ...settings, entryPoints: ['dist/main.js'], outfile: `bundle/${name}.cjs` });
if (name === 'action-server')
  await build({ ...settings, entryPoints: ['dist/mcp/connection.js'], outfile: 'bundle/action-server-mcp.cjs' });
