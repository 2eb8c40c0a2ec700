import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxTokens } from '@slipway/auth/sandbox-access';
import { SANDBOX_TOKEN_SECONDS, type VerifiedToken } from '@slipway/auth/sandbox-access';
import { SandboxTicketForm } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { SandboxAddress } from '../routing/address.js';
import { accessCookieName } from './credentials.js';
import type { LiveGrant } from './grants.queries.js';

/** Largest form. Bytes. */
const MAX_FORM = 8 * 1024;
/** Longest wait for it. Milliseconds. */
const FORM_TIMEOUT_MS = 10_000;

export interface AccessHandlerOptions {
  readonly tokens: SandboxTokens;
  /**
   * Spends the ticket. @returns the id of its grant, or `null`. Rejects when the database does not answer: access is
   * refused.
   */
  readonly redeem: (hash: Buffer, conversation: string, port: number) => Promise<string | null>;
  readonly find: (id: string) => Promise<LiveGrant>;
  /** Origin of Slipway's own pages. */
  readonly platformOrigin: string;
  readonly secure: boolean;
}

/** Where a browser changes its ticket into a cookie, and where that cookie is renewed while its access holds. */
export class AccessHandler {
  constructor(private readonly options: AccessHandlerOptions) {}

  /**
   * `POST /.slipway/enter`. Only a page of Slipway may send it: another site's could sign this browser into a sandbox
   * of its own choosing.
   * @throws SlipwayError `request.cross-site`, `request.invalid`, `auth.missing` for a ticket that is spent, late or
   * another address's, `service.unavailable`
   */
  async enter(
    request: IncomingMessage,
    response: ServerResponse,
    address: SandboxAddress,
    ownOrigin: string,
  ): Promise<void> {
    if (request.method !== 'POST')
      throw new SlipwayError('auth.missing', 'This address only takes a ticket. Open the sandbox from Slipway.');
    if (request.headers.origin !== this.options.platformOrigin)
      throw new SlipwayError(
        'request.cross-site',
        `A ticket is taken only from a page of ${this.options.platformOrigin}.`,
      );
    const form = parseOrThrow(SandboxTicketForm, Object.fromEntries(new URLSearchParams(await bodyOf(request))));
    const location = localUrl(form.path, ownOrigin);
    const hash = createHash('sha256').update(form.ticket).digest();
    const id = await this.options.redeem(hash, address.conversation, address.port).catch((error: unknown) => {
      throw new SlipwayError('service.unavailable', 'The ticket cannot be checked now: the database does not answer.', {
        cause: error,
        retryAfterSeconds: 1,
      });
    });
    if (id === null)
      throw new SlipwayError(
        'auth.missing',
        'This ticket was used before, or is older than 30 seconds. Open the sandbox from Slipway again.',
      );
    const cookie = await this.cookieFor(await this.options.find(id));
    response
      .writeHead(303, {
        location,
        'set-cookie': cookie,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-length': 0,
      })
      .end();
  }

  /**
   * `Set-Cookie` with a newer token when the one shown is past its half, or `null`. The access itself ends when it
   * ends.
   */
  async renewed(verified: VerifiedToken, grant: LiveGrant): Promise<string | null> {
    const left = verified.expiresAtMs - Date.now();
    return left > (SANDBOX_TOKEN_SECONDS * 1000) / 2 || grant.endsAt.getTime() <= verified.expiresAtMs
      ? null
      : this.cookieFor(grant);
  }

  private async cookieFor(grant: LiveGrant): Promise<string> {
    const now = new Date();
    const claims = {
      jti: grant.id,
      org: grant.orgId,
      sub: grant.userId,
      conversation: grant.conversation,
      port: grant.port,
    };
    const { token, expiresAt } = await this.options.tokens.sign(claims, now, grant.endsAt);
    const seconds = Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000));
    // Lax, since the way in is a redirect from Slipway's own site; which page of which origin may use it is checked on
    // every request.
    return `${accessCookieName(this.options.secure)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${this.options.secure ? '; Secure' : ''}`;
  }
}

/** The path on this origin, or `/` for whatever would lead elsewhere. */
export function localUrl(path: string, ownOrigin: string): string {
  try {
    const url = new URL(path, ownOrigin);
    return path.startsWith('/') && url.origin === ownOrigin
      ? `${url.origin}${url.pathname}${url.search}${url.hash}`
      : `${ownOrigin}/`;
  } catch {
    return `${ownOrigin}/`;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => request.destroy(), FORM_TIMEOUT_MS);
  try {
    for await (const part of request) {
      size += (part as Buffer).length;
      if (size > MAX_FORM) throw new SlipwayError('request.too-large', 'A ticket is shorter than this.');
      parts.push(part as Buffer);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts).toString('utf8');
}
