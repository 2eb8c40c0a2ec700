import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { programFolder, run } from '../programs/run.js';

/** libs/testing/gitea, from libs/testing/dist/gitea: a module of our own that names Gitea, and its main. */
export const GITEA_MODULE = path.resolve(import.meta.dirname, '../../gitea');
/** It may download the module first. */
const LIST_MS = 300_000;

/** As go.mod requires it. */
export async function giteaVersion(): Promise<string> {
  const version = /^\tgitea\.dev v(\S+)$/m.exec(await readFile(path.join(GITEA_MODULE, 'go.mod'), 'utf8'))?.[1];
  if (version === undefined) throw new Error('libs/testing/gitea/go.mod requires no gitea.dev');
  return version;
}

/**
 * Where this Gitea is or will be, outside the checkout. Another one for other sources: a half-changed module never runs
 * an old program.
 */
export async function programsFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go'])
    hash.update(`${file}\0`).update(await readFile(path.join(GITEA_MODULE, file)));
  return programFolder('gitea', `${await giteaVersion()}-${hash.digest('hex').slice(0, 8)}`);
}

/** Where Go keeps the files of Gitea's own module; read-only. */
export async function moduleFolder(go: string): Promise<string> {
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off' };
  const options = { cwd: GITEA_MODULE, timeoutMs: LIST_MS, env };
  await run(go, ['mod', 'download', 'gitea.dev'], options);
  const { code, output } = await run(go, ['list', '-m', '-f', '{{.Dir}}', 'gitea.dev'], options);
  if (code !== 0 || output.trim() === '') throw new Error(`Go does not say where Gitea's module is: ${output.trim()}`);
  return output.trim();
}
