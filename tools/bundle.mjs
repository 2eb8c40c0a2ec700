// Bundles one sandbox process into a single file, so that it starts in well under 200 ms: `node tools/bundle.mjs agent-server`, run in the app's folder after `tsc -b`.
import { build } from 'esbuild';

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error('usage: bundle.mjs APP');
await build({
  entryPoints: ['dist/main.js'],
  outfile: `bundle/${name}.cjs`,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  minify: true,
  keepNames: true,
  legalComments: 'external',
  // Native or optional modules stay outside; they are resolved from node_modules at run time.
  external: ['@lydell/node-pty', 'bufferutil', 'utf-8-validate', 'pino-pretty', 'thread-stream'],
  define: { 'import.meta.url': '__importMetaUrl' },
  banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
});
