import { existsSync } from 'node:fs';
import path from 'node:path';

/** @throws Error that says how to get it. */
export function findOnPath(program: string, advice: string): string {
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, program))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${program} is not on the PATH of this machine: ${advice}.`);
  return found;
}
