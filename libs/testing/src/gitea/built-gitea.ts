import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { compileGo, findGo, isGoFrom } from '../programs/go.js';
import { makeOnce } from '../programs/make-once.js';
import { run } from '../programs/run.js';
import { GITEA_MODULE, giteaVersion, moduleFolder, programsFolder } from './gitea-module.js';

/** As its go.mod says. */
const OLDEST_GO = [1, 26, 4] as const;
/** Read while it runs: without them compiled in, it reads them from a folder. */
const READ_WHILE_RUNNING = ['options', 'public', 'templates'];

/** No Gitea can be had on this machine. The message is one sentence that says what is missing and what to do. */
export class GiteaUnavailable extends Error {
  override readonly name = 'GiteaUnavailable';
}

/** What `prepareGitea` misses, as one sentence; `null` when it is built or can be. */
export async function missingForGitea(): Promise<string | null> {
  if (process.platform === 'win32') return 'Gitea is started here on Linux and macOS only.';
  if (existsSync(await programsFolder())) return null;
  const go = findGo();
  if (go !== null && (await isGoFrom(go, OLDEST_GO))) return null;
  return `Gitea is built from its Go modules, which needs Go ${OLDEST_GO.join('.')} or newer on the PATH, and there is ${go === null ? 'none' : 'an older one'}.`;
}

/**
 * Gitea, built from Go modules where it is not yet: minutes on two cores, nothing when it is there.
 *
 * @returns a folder with its program `gitea` and what it reads. Nothing is written into it.
 * @throws GiteaUnavailable without Go; Error with the compiler's last words when it fails.
 */
export async function prepareGitea(say: (line: string) => void = () => {}, signal?: AbortSignal): Promise<string> {
  const folder = await programsFolder();
  if (existsSync(folder)) return folder;
  const missing = await missingForGitea();
  const go = findGo();
  if (missing !== null || go === null) throw new GiteaUnavailable(missing ?? 'Go is missing.');
  const make = async (making: string): Promise<void> => {
    const began = performance.now();
    const version = await giteaVersion();
    say(`gitea: building ${version}, which takes minutes the first time …`);
    const flags = ['-trimpath', '-ldflags', `-s -w -X main.Version=${version}`];
    await compileGo({
      go,
      what: 'Gitea',
      args: ['build', ...flags, '-o', path.join(making, 'gitea'), '.'],
      cwd: GITEA_MODULE,
      signal,
    });
    const source = await moduleFolder(go);
    for (const name of READ_WHILE_RUNNING)
      await cp(path.join(source, name), path.join(making, name), { recursive: true });
    // Go keeps its modules read-only, and copies of them could not be removed.
    await run('chmod', ['-R', 'u+w', making], { timeoutMs: 60_000 });
    say(`gitea: built in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  };
  await makeOnce(folder, { what: 'gitea', say, signal, make });
  return folder;
}
