import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** The first executable of that name on the PATH, then in `also`; `null` when there is none. */
export function findProgram(name: string, also: readonly string[] = ['/usr/sbin', '/sbin']): string | null {
  for (const directory of [...(process.env['PATH'] ?? '').split(path.delimiter), ...also]) {
    const file = path.join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this one.
    }
  }
  return null;
}
