import { type AgentAddress, AgentClient } from '@slipway/agent-client';
import type { SandboxKeys } from '@slipway/auth/caller-keys';
import type { SandboxRow } from './conversations.queries.js';

/** A stop or a run must be taken within this, or the sandbox counts as unreachable. Milliseconds. */
const CONTROL_TIMEOUT_MS = 3_000;
/** Largest answer to what changes something. Bytes. */
const MAX_CONTROL_BYTES = 64 * 1024;

/** agent-server of one sandbox, for what cannot wait for a job. */
export function agentAt(address: AgentAddress): AgentClient {
  return new AgentClient(address, { timeoutMs: CONTROL_TIMEOUT_MS, maxBytes: MAX_CONTROL_BYTES });
}

/**
 * The sandbox to ask directly: one that is up, has the conversation, and belongs to a conversation that is wanted as
 * one of these. `null` when there is none.
 */
export function reachSandbox(
  keys: SandboxKeys,
  id: string,
  row: SandboxRow,
  desired: ReadonlyArray<SandboxRow['desired']>,
): AgentClient | null {
  if (
    !desired.includes(row.desired) ||
    row.statusState.start !== 'ready' ||
    row.sandboxStatus !== 'RUNNING' ||
    row.sandboxUrl === null ||
    row.sandboxKey === null
  )
    return null;
  return agentAt({ url: row.sandboxUrl, ...keys.open(id, row.sandboxKey) });
}
