import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { CredentialUse } from '@slipway/contracts/credentials';
import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { type Needle, needlesOf } from '../forward/needles.js';
import { Upstream, type UpstreamOptions } from '../forward/upstream.js';
import type { HeldCredential } from '../judge/credential.js';
import type { Judged } from '../judge/judge-request.js';
import { refused } from '../judge/refusal.js';

/** For an answer of an authorization server. Milliseconds. */
const ANSWER_MS = 10_000;
/** Most of that answer. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** A token of which the server does not say how long it is valid. Seconds. */
const UNSAID_SECONDS = 300;
/** No token is used longer, and none in its last moments: it may reach its place later than it left. Milliseconds. */
const MAX_MS = 3_600_000;
const MARGIN_MS = 30_000;
/** One that nothing uses is forgotten, as values are. Milliseconds. */
const UNUSED_MS = 60_000;
/** A refusal is remembered: who asks in a loop does not have the server asked in one. Milliseconds. */
const REFUSED_MS = 5_000;
const SWEEP_MS = 1_000;
const MAX_KEPT = 5_000;

type OAuthUse = Extract<CredentialUse, { form: 'oauth-client-credentials' }>;

/** RFC 6749, 5.1. */
const TokenAnswer = z.object({
  access_token: z
    .string()
    .min(1)
    .max(16 * 1024)
    .regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().min(0).optional().catch(undefined),
});

/** What an authorization server has issued to an organization's client. */
export interface AccessToken {
  readonly key: string;
  readonly value: string;
  /** It is searched in answers like a value. */
  readonly needles: readonly Needle[];
}

interface Kept {
  readonly org: string;
  readonly token: Promise<AccessToken>;
  /** By a clock that only goes forward. Milliseconds. */
  until: number;
  usedAt: number;
}

/**
 * Access tokens of OAuth clients, in memory alone: each from one question however many requests wait for it, as long as
 * the server says, it is used, and nothing of its organization changes. A request gets one only with the client's
 * secret, which is opened anew each minute.
 */
export class AccessTokens {
  private readonly kept = new Map<string, Kept>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly upstream: UpstreamOptions,
    private readonly counted: (outcome: 'issued' | 'rejected' | 'unreachable') => void = () => {},
    /** Milliseconds, of a clock that only goes forward. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /**
   * The token for a request; `null`: none of its credentials is of this form.
   * @throws SlipwayError `credential.rejected`, `credential.unreachable`.
   */
  async of(org: string, { credential, used }: Pick<Judged, 'credential' | 'used'>): Promise<AccessToken | null> {
    const { use } = credential;
    if (use.form !== 'oauth-client-credentials' || !used.includes(credential)) return null;
    const key = keyOf(org, credential, use);
    const known = this.kept.get(key);
    const now = this.now();
    if (known !== undefined && isKept(known, now)) {
      known.usedAt = now;
      return known.token;
    }
    return this.ask(key, org, { credential, use });
  }

  /** The next request gets another one. */
  drop({ key }: AccessToken): void {
    this.kept.delete(key);
  }

  /** @param org `null`: of all. */
  forget(org: string | null): void {
    for (const [key, kept] of this.kept) if (org === null || kept.org === org) this.kept.delete(key);
  }

  close(): void {
    clearInterval(this.timer);
    this.kept.clear();
  }

  private ask(
    key: string,
    org: string,
    { credential, use }: { readonly credential: HeldCredential; readonly use: OAuthUse },
  ): Promise<AccessToken> {
    const asked = askForToken(use, credential, this.upstream).then(({ access_token: value, expires_in: seconds }) => {
      this.counted('issued');
      kept.until = this.now() + lifetimeMs(seconds ?? UNSAID_SECONDS);
      const needles = needlesOf([{ ...credential, value: Buffer.from(value), identity: null }]);
      return { key, value, needles };
    });
    const kept: Kept = { org, token: asked, until: Number.POSITIVE_INFINITY, usedAt: this.now() };
    this.kept.set(key, kept);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value as string);
    asked.catch((error: unknown) => {
      this.counted(error instanceof SlipwayError && error.code === 'credential.rejected' ? 'rejected' : 'unreachable');
      kept.until = this.now() + REFUSED_MS;
    });
    return asked;
  }

  private sweep(): void {
    const now = this.now();
    for (const [key, kept] of this.kept) if (!isKept(kept, now)) this.kept.delete(key);
  }
}

const isKept = ({ until, usedAt }: Kept, now: number): boolean => until > now && usedAt + UNUSED_MS > now;

/** The request with its token. */
export function withToken<Request extends Judged>(judged: Request, { value }: AccessToken): Request {
  const { head } = judged;
  const others = head.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...judged, head: { ...head, headers: [...others, ['Authorization', `Bearer ${value}`]] } };
}

/** Another secret, client or scope has another token. */
function keyOf(org: string, { id, value }: HeldCredential, use: OAuthUse): string {
  const { tokenUrl, clientId, scope, audience, clientAuth } = use;
  const hash = createHash('sha256').update(JSON.stringify([org, id, tokenUrl, clientId, scope, audience, clientAuth]));
  return hash.update('\n').update(value).digest('base64');
}

function lifetimeMs(seconds: number): number {
  const ms = Math.min(seconds * 1000, MAX_MS);
  return ms - Math.min(MARGIN_MS, ms / 2);
}

/** @throws SlipwayError `credential.rejected`, `credential.unreachable`. */
async function askForToken(
  use: OAuthUse,
  credential: HeldCredential,
  rules: UpstreamOptions,
): Promise<z.infer<typeof TokenAnswer>> {
  const url = new URL(use.tokenUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? 443 : Number(url.port);
  const upstream = new Upstream({ host, port }, rules, () => {});
  const { headers, body } = tokenRequest(use, credential.value.toString());
  try {
    const { status, text } = await exchange(upstream, { host, port, url, headers, body });
    const answer = readJson(text);
    if (status === 200) {
      const token = TokenAnswer.safeParse(answer);
      if (token.success) return token.data;
      throw unreachable(host, 'its answer has no bearer token');
    }
    if (status >= 500 || status === 429 || status < 400) throw unreachable(host, `it answers ${status}`);
    const { error } = z.object({ error: z.string().regex(/^[a-z_]{1,60}$/) }).safeParse(answer).data ?? {};
    throw refused(
      'credential.rejected',
      'rejected',
      `${host} issues no access token for ${credential.name}: ${error ?? status}.`,
    );
  } catch (cause) {
    if (cause instanceof SlipwayError) throw cause;
    throw unreachable(host, (cause as NodeJS.ErrnoException).code ?? (cause as Error).message, cause);
  } finally {
    upstream.destroy();
  }
}

function tokenRequest(
  { clientId, scope, audience, clientAuth }: OAuthUse,
  secret: string,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const parameters = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== '') parameters.set('scope', scope);
  if (audience !== '') parameters.set('audience', audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'accept-encoding': 'identity',
  };
  if (clientAuth === 'basic') {
    // RFC 6749, 2.3.1: each is encoded as in a form before.
    const [id, key] = [clientId, secret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
    headers['authorization'] = `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}`;
  } else {
    parameters.set('client_id', clientId);
    parameters.set('client_secret', secret);
  }
  return { headers, body: parameters.toString() };
}

interface TokenExchange {
  readonly host: string;
  readonly port: number;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function exchange(
  agent: Upstream,
  { host, port, url, headers, body }: TokenExchange,
): Promise<{ readonly status: number; readonly text: string }> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({
      agent,
      signal,
      host,
      port,
      setHost: false,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    })
      .once('response', resolve)
      .once('error', reject)
      .end(body);
  });
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) {
    text += chunk as string;
    if (text.length > MAX_ANSWER_BYTES) throw new Error('its answer is too long');
  }
  return { status: incoming.statusCode ?? 0, text };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const unreachable = (host: string, why: string, cause?: unknown) =>
  refused('credential.unreachable', 'unreachable', `${host} issues no access token now: ${why}.`, cause);
