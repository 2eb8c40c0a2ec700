import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';

/** Where the browser of the sandbox with this state keeps its own: in the folder for temporary files, which is as large as the workspace; the volume of the state is small. */
export function browserDirectory(stateDirectory: string): string {
  const name = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 12);
  return path.join(os.tmpdir(), `slipway-browser-${name}`);
}
