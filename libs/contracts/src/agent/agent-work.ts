import { SANDBOX_PORTS } from '../sandboxes/sandbox-access.js';

/**
 * What of agent-server's routes makes models work, for whoever stands in front of it. `pays`: the agent works on for
 * who asks, so from then on the conversation counts for them. `beside`: asked beside the task: its calls, and no
 * others, count for who asks.
 */
export type AgentWork = 'pays' | 'beside';

const WORK: ReadonlyMap<string, AgentWork> = new Map([
  ['run', 'pays'],
  ['events', 'pays'],
  ['ask_agent', 'beside'],
  ['condense', 'beside'],
] as const);
const CONVERSATION = /^\/api\/conversations\/[^/]+\/([^/]+)$/;
const EVENT_SOCKET = /^\/sockets\/events\/[^/]+\/?$/;

/**
 * @param target path and query as agent-server gets them; it compares segments byte for byte, with or without a slash
 * at the end, and so does this.
 */
export function agentWorkOf(method: string, target: string): AgentWork | null {
  if (method !== 'POST') return null;
  const given = pathOf(target);
  const path = given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
  if (path === '/api/conversations') return 'pays';
  return WORK.get(CONVERSATION.exec(path)?.[1] ?? '') ?? null;
}

/** A socket whose frames of data are messages, and answers to what waits. */
export function takesMessages(target: string): boolean {
  return EVENT_SOCKET.test(pathOf(target));
}

const AGENT_SERVER = SANDBOX_PORTS['agent-server'];
const LOOKS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Routes of a conversation whose log says who sent what, and those that only halt it. */
const SAID_BY_LOG: ReadonlySet<string> = new Set(['events', 'run', 'pause', 'interrupt']);
const ANSWER = /^\/api\/conversations\/[^/]+\/events\/respond_to_confirmation\/?$/;

/**
 * Whether a request through sandbox-gateway may change files of the sandbox or run something there, by which an agent
 * is steered as by a message: an upload, a command, a file in the editor, a form of a program. Reads do not count, nor
 * requests whose author is already in the log of the conversation.
 */
export function steersSandbox(method: string, port: number, target: string): boolean {
  if (LOOKS.has(method)) return false;
  if (port !== AGENT_SERVER) return true;
  const path = pathOf(target);
  return !ANSWER.test(path) && !SAID_BY_LOG.has(CONVERSATION.exec(path.replace(/\/$/, ''))?.[1] ?? '');
}

/** The same of what a client sends by a socket. */
export function steersBySocket(port: number, target: string): boolean {
  return port !== AGENT_SERVER || !takesMessages(target);
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] as string;
}

/**
 * Whether a text frame on such a socket is a message, not an answer to pending actions or an authentication. An
 * unreadable frame counts as a message.
 */
export function isMessageFrame(text: string): boolean {
  try {
    const type = (JSON.parse(text) as { type?: unknown } | null)?.type;
    return type !== 'auth' && type !== 'confirmation';
  } catch {
    return true;
  }
}
