import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokerLine, CredentialUse } from '@slipway/contracts/credentials';
import { SlipwayError } from '@slipway/errors';
import { type Needle, needlesOf } from '../forward/needles.js';
import type { UpstreamOptions } from '../forward/upstream.js';
import type { HeldCredential } from '../judge/credential.js';
import type { Judged } from '../judge/judge-request.js';
import { installationToken } from './github-app.js';
import type { Issued, TokenCredential } from './issued.js';
import type { RefreshTokens } from './refresh-token.js';
import { askForToken, rejection } from './token-endpoint.js';
import { exchangeToken } from './token-exchange.js';

/** A token of which the server does not say how long it is valid. Seconds. */
const UNSAID_SECONDS = 300;
/** No token is used longer, and none in its last moments: it may reach its place later than it left. Milliseconds. */
const MAX_MS = 3_600_000;
const MARGIN_MS = 30_000;
/** One that nothing uses is forgotten, as values are. Milliseconds. */
const UNUSED_MS = 60_000;
/** How long a token is used after the one before it was not taken, whatever a place answers. Milliseconds. */
const DROP_MS = 10_000;
/** One that is given back may be in a request that takes long. Milliseconds. */
const UNUSED_BEFORE_REVOKED_MS = 600_000;
/** A refusal is remembered: who asks in a loop does not have the server asked in one. Milliseconds. */
const REFUSED_MS = 5_000;
/** Longest for giving tokens back at the end. Milliseconds. */
const CLOSE_MS = 2_000;
const SWEEP_MS = 1_000;
const MAX_KEPT = 5_000;

/** Forms whose token another server issues. */
type TokenUse = Extract<
  CredentialUse,
  { form: 'oauth-client-credentials' | 'token-exchange' | 'oauth-refresh-token' | 'github-app' }
>;

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
  /** Gives it back, once it is not used any more; `null`: it ends by itself. */
  revoke: (() => Promise<void>) | null;
  /** Something of its organization has changed, and it was not used since. */
  isDoubted: boolean;
}

export interface AccessTokensOptions {
  readonly upstream: UpstreamOptions;
  readonly refreshing: Pick<RefreshTokens, 'issue'>;
  readonly counted?: (outcome: 'issued' | 'rejected' | 'unreachable') => void;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

/**
 * Access tokens that other servers issue, in memory alone: each from one question however many requests wait for it, as
 * long as the server says, it is used, and nothing of its organization changes. A request gets one only with a
 * credential that is opened anew each minute.
 */
export class AccessTokens {
  private readonly kept = new Map<string, Kept>();
  /** By key, the last token that a place has not taken. */
  private readonly refused = new Map<string, string>();
  private readonly droppedAt = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;

  constructor(private readonly options: AccessTokensOptions) {
    this.now = options.now ?? (() => performance.now());
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /**
   * The token for a request; `null`: none of its credentials has one.
   * @throws SlipwayError `credential.rejected`, `credential.unreachable`.
   */
  async of(line: BrokerLine, { credential, used }: Pick<Judged, 'credential' | 'used'>): Promise<AccessToken | null> {
    if (!hasToken(credential) || !used.includes(credential)) return null;
    const key = keyOf(line, credential);
    const known = this.kept.get(key);
    const now = this.now();
    if (known !== undefined && isKept(known, now)) {
      known.usedAt = now;
      known.isDoubted = false;
      return known.token;
    }
    return this.ask(key, line, credential);
  }

  /** A place has not taken it: the next request gets another one. Of a place that takes none, once in a while. */
  drop({ key, value }: AccessToken): void {
    const now = this.now();
    if ((this.droppedAt.get(key) ?? Number.NEGATIVE_INFINITY) + DROP_MS > now) return;
    this.droppedAt.set(key, now);
    this.end(key);
    this.refused.set(key, value);
    if (this.refused.size > MAX_KEPT) this.refused.delete(this.refused.keys().next().value as string);
  }

  /** @param org `null`: of all. */
  forget(org: string | null): void {
    for (const [key, kept] of this.kept) {
      if (org !== null && kept.org !== org) continue;
      // One that is given back may be in a push that goes on: it is, unless it is used again.
      if (kept.revoke === null) this.kept.delete(key);
      else kept.isDoubted = true;
    }
  }

  /** Gives back what can be, for as long as that is waited for. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const given = [...this.kept.values()].map(({ revoke }) => revoke?.().catch(() => {}));
    this.kept.clear();
    this.refused.clear();
    const late = sleep(CLOSE_MS, undefined, { ref: false });
    await Promise.race([Promise.all(given), late]);
  }

  private ask(key: string, line: BrokerLine, credential: TokenCredential<TokenUse>): Promise<AccessToken> {
    const { org } = line;
    const refusedToken = this.refused.get(key) ?? null;
    const counted = this.options.counted ?? (() => {});
    const asked = this.issue(line, credential, refusedToken).then(({ value, seconds, revoke }) => {
      if (this.refused.get(key) === refusedToken) this.refused.delete(key);
      counted('issued');
      kept.until = this.now() + lifetimeMs(seconds ?? UNSAID_SECONDS);
      kept.revoke = revoke ?? null;
      const needles = needlesOf([{ ...credential, value: Buffer.from(value), identity: null }]);
      return { key, value, needles };
    });
    const kept: Kept = {
      org,
      token: asked,
      until: Number.POSITIVE_INFINITY,
      usedAt: this.now(),
      revoke: null,
      isDoubted: false,
    };
    this.kept.set(key, kept);
    if (this.kept.size > MAX_KEPT) this.end(this.kept.keys().next().value as string);
    asked.catch((error: unknown) => {
      counted(error instanceof SlipwayError && error.code === 'credential.rejected' ? 'rejected' : 'unreachable');
      kept.until = this.now() + REFUSED_MS;
    });
    return asked;
  }

  private issue(line: BrokerLine, credential: TokenCredential<TokenUse>, refusedToken: string | null): Promise<Issued> {
    const { use } = credential;
    const { upstream } = this.options;
    switch (use.form) {
      case 'oauth-client-credentials':
        return clientCredentials({ ...credential, use }, upstream);
      case 'token-exchange':
        return exchangeToken({ ...credential, use }, upstream);
      case 'oauth-refresh-token':
        return this.options.refreshing.issue(line, { ...credential, use }, refusedToken);
      case 'github-app':
        return installationToken({ ...credential, use }, upstream, new Date());
    }
  }

  private end(key: string): void {
    const kept = this.kept.get(key);
    this.kept.delete(key);
    void kept?.revoke?.().catch(() => {});
  }

  private sweep(): void {
    const now = this.now();
    for (const [key, kept] of this.kept) if (!isKept(kept, now)) this.end(key);
    for (const [key, at] of this.droppedAt) if (at + DROP_MS <= now) this.droppedAt.delete(key);
  }
}

const FORMS: ReadonlySet<CredentialUse['form']> = new Set<TokenUse['form']>([
  'oauth-client-credentials',
  'token-exchange',
  'oauth-refresh-token',
  'github-app',
]);
const hasToken = (credential: HeldCredential): credential is TokenCredential<TokenUse> =>
  FORMS.has(credential.use.form);

function isKept({ until, usedAt, revoke, isDoubted }: Kept, now: number): boolean {
  const unusedMs = revoke === null || isDoubted ? UNUSED_MS : UNUSED_BEFORE_REVOKED_MS;
  return until > now && usedAt + unusedMs > now;
}

/** The request with its token; of GitHub as git takes it, where it is git's. */
export function withToken<Request extends Judged>(judged: Request, { value }: AccessToken): Request {
  const { head, place, credential } = judged;
  const isGit = credential.use.form === 'github-app' && place.git !== undefined;
  const made = isGit ? `Basic ${Buffer.from(`x-access-token:${value}`).toString('base64')}` : `Bearer ${value}`;
  const others = head.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...judged, head: { ...head, headers: [...others, ['Authorization', made]] } };
}

/** Another value or setting has another token, and of some forms another conversation and sandbox. */
function keyOf({ org, claim, conversation }: BrokerLine, { id, use, value, identity }: HeldCredential): string {
  const { places: _, ...settings } = use;
  const isOne = identity !== null || use.form === 'github-app';
  const whose = isOne ? [claim, conversation, identity === null ? null : subjectOf(identity)] : [];
  const hash = createHash('sha256').update(JSON.stringify([org, id, settings, whose]));
  return hash.update('\n').update(value).digest('base64');
}

/** Of a token of workload identity: the same in each token of a conversation. */
function subjectOf(token: Buffer): unknown {
  const payload = Buffer.from(token.toString().split('.')[1] ?? '', 'base64url').toString();
  return (JSON.parse(payload) as { sub?: unknown }).sub;
}

function lifetimeMs(seconds: number): number {
  const ms = Math.min(seconds * 1000, MAX_MS);
  return ms - Math.min(MARGIN_MS, ms / 2);
}

/** RFC 6749, 4.4. */
async function clientCredentials(
  { name, use, value }: TokenCredential<Extract<TokenUse, { form: 'oauth-client-credentials' }>>,
  rules: UpstreamOptions,
): Promise<Issued> {
  const { tokenUrl, clientId, scope, audience, clientAuth } = use;
  const question = {
    name,
    tokenUrl,
    parameters: { grant_type: 'client_credentials', scope, audience },
    client: { clientId, clientAuth, secret: value.toString() },
  };
  const answer = await askForToken(question, rules).catch((error: unknown) => {
    throw rejection(question, error);
  });
  return { value: answer.access_token, seconds: answer.expires_in };
}
