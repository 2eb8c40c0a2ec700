import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { programFolder, run } from './run.js';

export interface GoModule {
  /** Where its files are, by version and checked against the checksum database by Go itself. Read-only. */
  readonly folder: string;
}

const DOWNLOAD_MS = 240_000;
/** Where Go's own installer puts it, when it is not on the PATH. */
const GO = ['go', '/usr/local/go/bin/go'];

/**
 * The files of a Go module, which Go keeps from run to run outside the checkout. Nothing of it is built or run.
 * @param version exact, with its `v`. @returns it, or a sentence that says why there is none here.
 */
export async function goModule(module: string, version: string): Promise<GoModule | { readonly missing: string }> {
  const cwd = programFolder('go-modules');
  await mkdir(cwd, { recursive: true });
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' };
  let last = 'There is no Go on the PATH.';
  for (const go of GO) {
    const { code, output } = await run(go, ['mod', 'download', '-json', `${module}@${version}`], {
      timeoutMs: DOWNLOAD_MS,
      cwd,
      env,
    });
    const folder = /"Dir": "([^"]+)"/.exec(output)?.[1];
    if (code === 0 && folder !== undefined && existsSync(folder)) return { folder };
    if (!output.includes(`there is no ${go}`)) last = output.trim().split('\n').at(-1) ?? last;
  }
  return { missing: `${module} ${version} could not be downloaded: ${last}` };
}
