import { git } from '../git/git.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';

/** Longest that a listing waits for git. Milliseconds. */
const WAIT_MS = 2_000;

/** Which names git ignores. Which way it fails: none is marked. */
export class IgnoredByGit {
  constructor(private readonly environment: ShellEnvironment) {}

  /** @param directory a real path; the names are in it. */
  async of(directory: string, names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (names.length === 0) return new Set();
    try {
      // A name that begins with a dash or a colon would be read as something else.
      const { stdout } = await git(['check-ignore', '-z', '--stdin'], {
        cwd: directory,
        signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]),
        env: this.environment.variables(),
        input: Buffer.from(names.map((name) => `./${name}\0`).join('')),
      });
      return new Set(
        stdout
          .toString()
          .split('\0')
          .map((name) => name.slice(2)),
      );
    } catch {
      return new Set();
    }
  }
}
