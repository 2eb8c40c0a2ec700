import type { SandboxKeys } from '@slipway/auth/caller-keys';
import type { SandboxRow } from './conversations.queries.js';
import { SandboxClient } from './sandbox.client.js';

/** The sandbox to ask directly: one that is up, has the conversation, and belongs to a conversation that is wanted as one of these. `null` when there is none. */
export function reachSandbox(keys: SandboxKeys, id: string, row: SandboxRow, desired: ReadonlyArray<SandboxRow['desired']>): SandboxClient | null {
  if (
    !desired.includes(row.desired) ||
    row.statusState.start !== 'ready' ||
    row.sandboxStatus !== 'RUNNING' ||
    row.sandboxUrl === null ||
    row.sandboxKey === null
  )
    return null;
  return new SandboxClient({ url: row.sandboxUrl, ...keys.open(id, row.sandboxKey) }, id);
}
