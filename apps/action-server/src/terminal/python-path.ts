import { accessSync, constants } from 'node:fs';
import path from 'node:path';

let last: { searchPath: string; interpreter: string | null } | undefined;

/** The Python that the shell would run, or `null`. Resolved once for each PATH. */
export function pythonIn(searchPath: string): string | null {
  if (last?.searchPath !== searchPath) last = { searchPath, interpreter: find(searchPath) };
  return last.interpreter;
}

function find(searchPath: string): string | null {
  for (const name of ['python', 'python3']) {
    for (const directory of searchPath.split(':')) {
      const candidate = path.join(directory, name);
      if (!candidate.startsWith('/')) continue;
      try {
        accessSync(candidate, constants.X_OK);
        return candidate;
      } catch {
        // The next directory.
      }
    }
  }
  return null;
}
