// `node deploy/images/apps/stage.ts APP FOLDER`: the whole root of an app's image as files, for the Dockerfile. As
// root, so that the files are root's.
import { mkdirSync } from 'node:fs';
import { buildAppImage } from '../app-image.ts';
import { unpackArchive } from '../unpack-archive.ts';
import { APP_NAMES, isApp } from './app-list.ts';

const [app = '', folder] = process.argv.slice(2);
if (!isApp(app) || folder === undefined) {
  console.error(`usage: stage.ts APP FOLDER; apps are ${APP_NAMES.join(', ')}`);
  process.exit(2);
}
const { archivePath } = await buildAppImage(app, { signal: AbortSignal.timeout(15 * 60_000) });
mkdirSync(folder, { recursive: true });
unpackArchive(archivePath, folder);
