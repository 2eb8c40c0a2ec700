import { AgentClient } from './agent-client.js';
import { AgentError, type AgentFailure } from './agent-error.js';

const PROBE_TIMEOUT_MS = 2_000;
/** A conversation with its statistics, plugins and tools. Bytes. */
const MAX_CONVERSATION_BYTES = 2 * 1024 * 1024;
const MAX_INFO_BYTES = 256 * 1024;
/** Refusals of an agent-server that has no such conversation, or is another sandbox by now. */
const DEAD_CODES: ReadonlySet<string | null> = new Set(['resource.not-found', 'auth.missing', 'sandbox.dormant']);
const DEAD_STATUSES: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Whether a sandbox has the conversation. `dead` only with certainty: nothing listens there, the key is not its own, or
 * it has no such conversation. A slow one is `silent`.
 * @throws the signal's reason only.
 */
export async function probe(agent: AgentClient, id: string, signal: AbortSignal): Promise<'alive' | 'silent' | 'dead'> {
  try {
    await agent.text('conversation', { id }, { signal, timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_CONVERSATION_BYTES });
    return 'alive';
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return error instanceof AgentError && isCertain(error.failure) ? 'dead' : 'silent';
  }
}

function isCertain(failure: AgentFailure): boolean {
  if (failure.kind === 'answered') return DEAD_CODES.has(failure.code) || DEAD_STATUSES.has(failure.status);
  return failure.kind === 'unreachable';
}

/** How long a sandbox has not been used. Seconds; `null`: never, or unknown. */
export interface IdleTimes {
  /** Since a user was last active in its terminal, files or browser. */
  readonly user: number | null;
  /** Since anybody with its key asked for anything; 0 while an agent works in it. */
  readonly anybody: number | null;
}

/** Waits for at most 2 s. Needs no key. @throws never. */
export async function idleTimes(url: string): Promise<IdleTimes> {
  const agent = new AgentClient({ url, sessionKey: '' }, { timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_INFO_BYTES });
  return agent.call('info', {}).then(
    ({ person_idle_time, idle_time }) => ({ user: person_idle_time ?? null, anybody: idle_time ?? null }),
    () => ({ user: null, anybody: null }),
  );
}
