import { type AskedUse, EACH_USE_MINUTES } from '../credentials/asked-use.js';
import { EGRESS_ONCE_SECONDS, type EgressRequest, MAX_ASKER_LINE } from './egress-rules.js';

/** Longest name of a user, and longest reason, in a word to the agent. UTF-16 code units. */
const MAX_NAME = 100;
const MAX_REASON = MAX_ASKER_LINE;

/**
 * What the agent reads of a request. Host and reason are texts of others: each is bounded, in one line and without
 * characters that are not seen, and the host is in ASCII.
 */
export function noticeText(request: EgressRequest): string {
  if (request.use !== undefined) return noticeOfUse(request, request.use);
  const host = plain(request.host, 253).replaceAll(/[^!-~]/g, '?');
  const target = `${host.includes(':') ? `[${host}]` : host}:${request.port}`;
  const by = request.decidedBy === null ? '' : ` by ${plain(request.decidedBy, MAX_NAME)}`;
  const reason = plain(request.reason, MAX_REASON);
  switch (request.state) {
    case 'waiting':
      return `[Network] Not reached: ${target} (a user was asked; go on without it, and try again later).`;
    case 'expired':
      return `[Network] Nobody answered whether ${target} may be reached: it is not.`;
    case 'denied':
      return `[Network] ${target} was refused${by}${reason === '' ? '.' : `, with this reason: "${reason}".`} Do without it.`;
    case 'allowed':
      return `[Network] ${target} was allowed${by} ${SCOPES[request.scope ?? 'once']}. Try again now.`;
  }
}

/** The same of a request to use a credential. */
function noticeOfUse(request: EgressRequest, { credential, method, path, ask, refs }: AskedUse): string {
  const host = plain(request.host, 253).replaceAll(/[^!-~]/g, '?');
  const what = refs.length === 0 ? `${plain(method, 20)} ${host}${plain(path, MAX_ASKER_LINE)}` : `a push to ${host}`;
  const target = `${what} with ${plain(credential.name, MAX_NAME)}`;
  const by = request.decidedBy === null ? '' : ` by ${plain(request.decidedBy, MAX_NAME)}`;
  const reason = plain(request.reason, MAX_REASON);
  switch (request.state) {
    case 'waiting':
      return `[Network] Not sent: ${target} (a user was asked; go on without it, and try again later).`;
    case 'expired':
      return `[Network] Nobody answered whether ${target} may be sent: it is not.`;
    case 'denied':
      return `[Network] ${target} was refused${by}${reason === '' ? '.' : `, with this reason: "${reason}".`} Do without it.`;
    case 'allowed':
      if (request.scope === 'conversation')
        return `[Network] ${target} was allowed${by} for this conversation. Try again now.`;
      return ask === 'each-use'
        ? `[Network] ${target} was allowed${by} for one request: send the same one again within ${EACH_USE_MINUTES} minutes.`
        : `[Network] ${target} was allowed${by} once: this path for ${EGRESS_ONCE_SECONDS} seconds. Try again now.`;
  }
}

const SCOPES = {
  once: `once: new connections pass for ${EGRESS_ONCE_SECONDS} seconds`,
  conversation: 'for this conversation',
  organization: 'for the organization',
} as const;

function plain(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{C}\s\u2028\u2029]+/gu, ' ')
    .replaceAll('"', "'")
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
