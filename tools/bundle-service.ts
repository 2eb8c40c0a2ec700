// `node ../../tools/bundle-service.ts [FOLDER]`, run in an app's folder or with it after `tsc -b`: bundle/main.js, the
// one file that `npm start`, tests and benches start, made as the app's image is (docs/decisions/0062).
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleProgram } from '../deploy/images/apps/app-bundle.ts';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.resolve(process.argv[2] ?? '.');
const app = path.relative(root, folder);
const { content } = await bundleProgram(path.join(app, 'dist/main.js'), { root });
await mkdir(path.join(folder, 'bundle'), { recursive: true });
await writeFile(path.join(folder, 'bundle/main.js'), content);
