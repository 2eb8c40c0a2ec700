import type { AskedUse } from '@slipway/contracts/credentials';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import type { Translate } from '../../messages/translate.ts';
import { visibleText } from '../conversation/visible-text.ts';

/** Longest host, name or reason that a line shows: a sandbox may write what it likes into its log. UTF-16 units. */
const MAX_TEXT = 300;
/** The most requests that the server lists. */
const MAX_LISTED = 200;

/** Host and port as plain text. Punycode stays as it is: what reads like another name must not look like it. */
export function hostText({ host, port }: Pick<EgressRequest, 'host' | 'port'>): string {
  const named = cut(host);
  return `${named.includes(':') ? `[${named}]` : named}:${port}`;
}

/** A request that gets a credential, as plain text: method, host and path, or the branches of a push. */
export function requestText(
  { host, port }: Pick<EgressRequest, 'host' | 'port'>,
  { method, path }: Pick<AskedUse, 'method' | 'path'>,
): string {
  return `${cut(method)} ${cut(host)}${port === 443 ? '' : `:${port}`}${cut(path)}`;
}

/** What is used, and for what. */
export const wordsOfUse = (
  at: Pick<EgressRequest, 'host' | 'port'>,
  { name, ...request }: { readonly name: string } & Pick<AskedUse, 'method' | 'path'>,
): { name: string; request: string } => ({ name: cut(name), request: requestText(at, request) });

/** What the sandbox asked for, or what became of it, in one line. @param others that were answered alike. */
export function egressWords(t: Translate, request: EgressRequest, others: readonly EgressRequest[] = []): string {
  const asked = [request, ...others].map((each) => askedText(t, each)).join(', ');
  const host = request.use === undefined ? asked : asked.charAt(0).toUpperCase() + asked.slice(1);
  const count = others.length + 1;
  const name = request.decidedBy === null ? t('egress.someone') : cut(request.decidedBy);
  const reason = cut(request.reason.trim());
  switch (request.state) {
    case 'waiting':
      return request.use === undefined ? t('egress.theSandboxAsksFor2', { host }) : t('egress.asksTo', { use: asked });
    case 'expired':
      return t('egress.expired', { host: asked });
    case 'denied':
      return reason === ''
        ? t('egress.refusedBy', { host, count, name })
        : t('egress.refusedBecause', { host, count, name, reason });
    case 'allowed':
      if (request.scope === 'organization') return t('egress.allowedForOrganization', { host, count, name });
      return request.scope === 'conversation'
        ? t('egress.allowedForConversation', { host, count, name })
        : t('egress.allowedOnce', { host, count, name });
  }
}

/** A host, or the use of a credential. */
export function askedText(t: Translate, request: EgressRequest): string {
  const { use } = request;
  if (use === undefined) return hostText(request);
  return t('egress.useOf', wordsOfUse(request, { ...use, name: use.credential.name }));
}

/**
 * Whether the server knows of what a log says: a sandbox writes its own log.
 * @param listed newest first, as the server gave them; `undefined` while they are not read.
 */
export function isOnRecord(said: EgressRequest, listed: readonly EgressRequest[] | undefined): boolean {
  if (listed === undefined) return true;
  const known = listed.find(({ id }) => id === said.id);
  // What is older than the list cannot be compared.
  if (known === undefined) return listed.length >= MAX_LISTED && !listed.some((one) => one.createdAt < said.createdAt);
  if (known.host !== said.host || known.port !== said.port || !isSameUse(known.use, said.use)) return false;
  return (
    said.state === 'waiting' ||
    (known.state === said.state &&
      known.scope === said.scope &&
      known.decidedBy === said.decidedBy &&
      known.reason === said.reason)
  );
}

function isSameUse(known: AskedUse | undefined, said: AskedUse | undefined): boolean {
  if (known === undefined || said === undefined) return known === said;
  return (
    known.credential.id === said.credential.id &&
    known.credential.name === said.credential.name &&
    known.method === said.method &&
    known.path === said.path
  );
}

function cut(text: string): string {
  const visible = visibleText(text);
  return visible.length > MAX_TEXT ? `${visible.slice(0, MAX_TEXT)}…` : visible;
}
