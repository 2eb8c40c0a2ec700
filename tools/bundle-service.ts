// `node ../../tools/bundle-service.ts`, run in an app's folder after `tsc -b`: bundle/main.js, the one file that `npm
// start`, tests and benches start, made as the app's image is (docs/decisions/0062).
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleProgram } from '../deploy/images/apps/app-bundle.ts';

const root = path.resolve(import.meta.dirname, '..');
const app = path.relative(root, process.cwd());
const { content } = await bundleProgram(path.join(app, 'dist/main.js'), { root });
await mkdir('bundle', { recursive: true });
await writeFile('bundle/main.js', content);
