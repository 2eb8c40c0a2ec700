import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';

/**
 * Where the sandbox with this state keeps what may grow: in the folder for temporary files, which is as large as the
 * workspace; a pod ends when the volume of its state is full.
 */
export function largeDirectory(
  stateDirectory: string,
  what: 'browser' | 'checkpoints' | 'output' | 'trust' | 'turns',
): string {
  const name = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 12);
  return path.join(os.tmpdir(), `slipway-${what}-${name}`);
}
