import type { SecretBox } from '@slipway/auth';
import type { SandboxRow } from './conversations.queries.js';
import { SandboxClient } from './sandbox.client.js';

/** The sandbox to ask directly: one that is up, has the conversation, and belongs to a conversation that is wanted as one of these. `null` when there is none. */
export function reachSandbox(box: SecretBox, id: string, row: SandboxRow, desired: ReadonlyArray<SandboxRow['desired']>): SandboxClient | null {
  if (
    !desired.includes(row.desired) ||
    row.statusState.start !== 'ready' ||
    row.sandboxStatus !== 'RUNNING' ||
    row.sandboxUrl === null ||
    row.sandboxKey === null
  )
    return null;
  return new SandboxClient({ url: row.sandboxUrl, sessionKey: box.decrypt(row.sandboxKey, `sandbox-key:${id}`) }, id);
}
