import { type AgentAddress, AgentClient, type CallAnswer, type CallDefaults } from '@slipway/agent-client';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Longest wait for a sandbox and its largest answer, by what is asked. Milliseconds, bytes. */
export const AGENT_CALLS = {
  /** Changes of its state. */
  control: { timeoutMs: 5_000, maxBytes: 256 * KIB },
  /** A conversation with its statistics, plugins and tools. */
  conversation: { timeoutMs: 5_000, maxBytes: 2 * MIB },
  /** The history of a long conversation is read back before this answers. */
  start: { timeoutMs: 60_000, maxBytes: 2 * MIB },
  /** git over a large work tree: some twenty thousand changed files. */
  changes: { timeoutMs: 30_000, maxBytes: 2 * MIB },
  /** A snapshot says so in place of a larger patch. */
  patch: { timeoutMs: 30_000, maxBytes: 8 * MIB },
} as const satisfies Readonly<Record<string, CallDefaults>>;

/** What the network may add to a command's own limit. Milliseconds. */
const COMMAND_MARGIN_MS = 10_000;
/** action-server cuts output long before. Bytes. */
const MAX_OUTPUT_BYTES = 4 * MIB;

/** agent-server of one sandbox. */
export function agentAt(address: AgentAddress): AgentClient {
  return new AgentClient(address, AGENT_CALLS.control);
}

/**
 * Runs one command beside the agent's shell. `exit_code` is -1 when it was killed at `timeoutSeconds`. Aborting kills
 * it.
 */
export function runCommand(
  agent: AgentClient,
  command: string,
  options: { readonly cwd?: string; readonly timeoutSeconds: number },
  signal: AbortSignal,
): Promise<CallAnswer<'runCommand'>> {
  const { cwd, timeoutSeconds } = options;
  const body = { command, timeout: timeoutSeconds, ...(cwd === undefined ? {} : { cwd }) };
  return agent.call(
    'runCommand',
    { body },
    { signal, timeoutMs: timeoutSeconds * 1_000 + COMMAND_MARGIN_MS, maxBytes: MAX_OUTPUT_BYTES },
  );
}
