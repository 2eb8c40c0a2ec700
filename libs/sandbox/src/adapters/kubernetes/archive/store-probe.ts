import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SlipwayError } from '@slipway/errors';
import type { WorkspaceStore } from './workspace-store.js';

/**
 * Begins the name of what a probe writes; a probe that was cut off leaves a workspace that nothing refers to, which the
 * reaper deletes.
 */
const PROBE_PREFIX = 'probe-';

/**
 * Writes a small object, reads it back and deletes it: which proves that a workspace can be saved and restored.
 * @throws SlipwayError `sandbox.archive-unavailable` with what the store answered; the signal's reason when it is
 * aborted.
 */
export async function probeStore(store: WorkspaceStore, signal: AbortSignal): Promise<void> {
  const workspace = `${PROBE_PREFIX}${randomUUID()}`;
  const content = randomUUID();
  await store.put(workspace, 'workspace', Readable.from([Buffer.from(content)], { objectMode: false }), signal);
  const stream = await store.get(workspace, 'workspace', signal);
  const read = stream === null ? null : (await buffer(stream)).toString();
  await store.delete(workspace, signal);
  if (read === content) return;
  throw new SlipwayError(
    'sandbox.archive-unavailable',
    `The store of workspaces took an object and gave back ${read === null ? 'none' : 'another one'}.`,
  );
}
