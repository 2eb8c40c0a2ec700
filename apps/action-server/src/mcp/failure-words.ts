import { beginningOf } from '@slipway/contracts/actions';
import { NotReachable, type ServerSpec } from './server-spec.js';

/** Why a server cannot be used, for a user and for the agent. */
export interface FailureWords {
  readonly reason: string;
  readonly nextStep: string;
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be resolved',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'nothing answered',
  UND_ERR_CONNECT_TIMEOUT: 'nothing answered',
  UND_ERR_SOCKET: 'the connection was cut',
};
const KNOWN = /^(?:ENOENT|EACCES|REQUEST_TIMEOUT)$/;
/** Longest words of a server that are passed on. */
const MAX_WORDS = 300;

/**
 * The sentences for what a connection rejected with. No secret of its settings is in them, but what the server says of
 * itself.
 */
export function failureWords(error: unknown, spec: ServerSpec | null): FailureWords {
  if (error instanceof NotReachable) return { reason: error.message, nextStep: error.nextStep };
  const { code, status, message } = partsOf(error);
  const place = spec === null ? '' : spec.kind === 'stdio' ? spec.command : spec.url.origin + spec.url.pathname;
  if (code === 'ENOENT' && spec?.kind === 'stdio')
    return {
      reason: `There is no program ${place} in the sandbox.`,
      nextStep: 'Install it in the setup script, or correct the command of the server.',
    };
  if (code === 'EACCES' && spec?.kind === 'stdio')
    return {
      reason: `${place} may not be run.`,
      nextStep: 'Make it executable, or correct the command of the server.',
    };
  if (status === 401 || status === 403)
    return {
      reason: `${place} refused its credentials (${status}).`,
      nextStep: 'Renew the secret that it is convinced with.',
    };
  if (status !== undefined)
    return {
      reason: `${place} answered with status ${status}: ${message}`,
      nextStep: 'Check the address and the transport of the server.',
    };
  const network = code === undefined ? undefined : NETWORK[code];
  if (network !== undefined)
    return {
      reason: `${place} cannot be reached: ${network} (${code}).`,
      nextStep: 'Correct its address or start it; the network rules of the sandbox may stand in the way.',
    };
  if (code === 'REQUEST_TIMEOUT')
    return { reason: 'It did not answer in time.', nextStep: 'Check its own log; it may need longer to be installed.' };
  return {
    reason: `${message.charAt(0).toUpperCase()}${message.slice(1)}`.replace(/\.*$/, '.'),
    nextStep:
      spec?.kind === 'remote'
        ? 'Check its address, or its own log.'
        : 'Run its command in the terminal, or check its own log.',
  };
}

/** A server that was too slow, one that was not there, or something else. */
export function kindOfFailure(error: unknown): 'timeout' | 'connection' | 'unknown' {
  const { code } = partsOf(error);
  if (code === 'REQUEST_TIMEOUT') return 'timeout';
  return error instanceof NotReachable ? 'unknown' : 'connection';
}

function partsOf(error: unknown): { code: string | undefined; status: number | undefined; message: string } {
  let code: string | undefined;
  let status: number | undefined;
  let message = '';
  const look = (value: unknown, depth: number): void => {
    if (depth === 0 || typeof value !== 'object' || value === null) return;
    const {
      code: own,
      data,
      cause,
      errors,
      event,
    } = value as { code?: unknown; data?: { status?: unknown }; cause?: unknown; errors?: unknown; event?: unknown };
    // The innermost that is known: the library wraps what the network said.
    if (typeof own === 'string' && (code === undefined || KNOWN.test(own) || Object.hasOwn(NETWORK, own))) code = own;
    if (typeof own === 'number' && own >= 300 && own < 600) status ??= own;
    if (typeof data?.status === 'number') status ??= data.status;
    if (value instanceof Error && value.message !== '') message = value.message;
    look(cause, depth - 1);
    if (Array.isArray(errors)) look(errors[0], depth - 1);
    look(event, depth - 1);
  };
  look(error, 6);
  const top = error instanceof Error ? error.message : String(error);
  const network = code !== undefined && Object.hasOwn(NETWORK, code);
  const text = network || /^(?:fetch failed|terminated)$/i.test(top) ? message || top : top;
  return { code, status, message: beginningOf(text.replaceAll(/\p{Cc}+/gu, ' '), MAX_WORDS) };
}
