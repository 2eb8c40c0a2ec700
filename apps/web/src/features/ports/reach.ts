import type { ConversationStatus, SandboxStatus } from '@slipway/contracts/conversations';

/** Whether there is a sandbox to reach into: reaching never starts one. */
export type Reach = 'open' | 'starting' | 'paused' | 'none';

/**
 * The log's status goes before what was read of the sandbox, which may be older. `undefined`: not read yet; then
 * sandbox-gateway has the last word.
 */
export function reachOf(status: ConversationStatus, sandbox: SandboxStatus | undefined): Reach {
  if (status === 'starting') return 'starting';
  if (status === 'working') return 'open';
  if (status === 'paused' || sandbox === 'PAUSED') return 'paused';
  return sandbox === 'MISSING' || sandbox === 'ERROR' ? 'none' : 'open';
}
