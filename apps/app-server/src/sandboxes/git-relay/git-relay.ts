import type { GitClaims } from '@slipway/auth/git-token';
import type { SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import { baseUrlOf, type Provider, ProviderRefusal } from '@slipway/integrations';
import type { ConnectionCredentials } from '@slipway/integrations/credentials';
import { type ProviderDispatch } from '@slipway/integrations/dispatch';
import { isRefusedAddress } from '@slipway/outside/agent';
import { findGrant, type GrantedRepository } from './git-relay.queries.js';
import type { GitRequest } from './git-request.js';

/** Until the head of an answer; a host computes a pack before its first byte. Milliseconds. */
const HEAD_TIMEOUT_MS = 120_000;
/** Headers of git that are passed on to the host. */
const PASSED = ['content-type', 'content-encoding', 'accept', 'git-protocol'] as const;

export interface GitCall {
  readonly claims: GitClaims;
  readonly connection: string;
  readonly request: GitRequest & { readonly asks: 'refs' | 'pack' };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer | null;
  /** The sandbox hung up. */
  readonly gone: AbortSignal;
}

/**
 * Reads granted repositories with the connection's credential, which no sandbox sees. Follows no redirect, so the
 * credential goes to the connection's host alone.
 */
export class GitRelay {
  constructor(
    private readonly pool: SqlPool,
    private readonly credentials: ConnectionCredentials,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly dispatch: ProviderDispatch,
  ) {}

  /**
   * @returns the host's answer of 200, its body not read. @throws SlipwayError with a sentence for whoever reads git's
   * output.
   */
  async ask({ claims, connection, request, headers, body, gone }: GitCall): Promise<Response> {
    const grant = await findGrant(this.pool, claims.org, {
      conversation: claims.conversation,
      epoch: claims.epoch,
      connection,
      fullName: request.fullName,
    });
    if (grant === null) throw notFound();
    const url = `${baseUrlOf(grant)}/${grant.fullName}.git${request.asks === 'refs' ? '/info/refs?service=git-upload-pack' : '/git-upload-pack'}`;
    const sent = { authorization: await this.authorization(claims.org, connection, grant), ...passed(headers) };
    const head = new AbortController();
    const timer = setTimeout(() => head.abort(new Error('no answer in time')), HEAD_TIMEOUT_MS);
    let answer: Response;
    try {
      const signal = AbortSignal.any([gone, head.signal]);
      answer = await this.dispatch.send(
        url,
        {
          method: request.asks === 'refs' ? 'GET' : 'POST',
          headers: sent,
          redirect: 'manual',
          signal,
          ...(body === null ? {} : { body }),
        },
        gone,
      );
    } catch (error) {
      if (isRefusedAddress(error))
        throw new SlipwayError('settings.url-refused', `${grant.host} is not at an address that Slipway may call.`);
      throw new SlipwayError('integration.provider-away', `${grant.host} does not answer.`, {
        cause: error,
        retryAfterSeconds: 5,
      });
    } finally {
      clearTimeout(timer);
    }
    if (answer.status === 200) return answer;
    // Nothing of it is passed on: a host may repeat what it was sent.
    await answer.body?.cancel().catch(() => {});
    throw problemOf(answer, grant.host);
  }

  private async authorization(
    orgId: string,
    connectionId: string,
    { state, credential, ...connection }: GrantedRepository,
  ): Promise<string> {
    const { provider, host, fullName } = connection;
    const access = this.providers.get(provider)?.codeHost;
    if (state === 'disabled')
      throw new SlipwayError('integration.provider-refused', `The connection to ${host} is disabled.`);
    if (credential === null || access === undefined)
      throw new SlipwayError('integration.provider-refused', `The connection to ${host} has no access token.`);
    const { token } = await this.credentials
      .of(orgId, { id: connectionId, ...connection }, credential, { repository: fullName })
      .catch((error: unknown) => {
        if (!(error instanceof ProviderRefusal)) throw error;
        if (error.kind === 'credential')
          throw new SlipwayError(
            'integration.provider-refused',
            `${host} does not renew the authorization of the connection.`,
          );
        throw new SlipwayError('integration.provider-away', `${host} does not renew the authorization now.`, {
          retryAfterSeconds: 10,
        });
      });
    return `Basic ${Buffer.from(`${access.gitUser}:${token}`).toString('base64')}`;
  }
}

function passed(headers: GitCall['headers']): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of PASSED) {
    const value = headers[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

function problemOf({ status, headers }: Response, host: string): SlipwayError {
  if (status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after'));
    const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? Math.min(Math.ceil(seconds), 3_600) : 10;
    return new SlipwayError(
      'integration.provider-away',
      `${host} ${status === 429 ? 'limits our calls' : `does not answer (${status})`}.`,
      {
        retryAfterSeconds,
      },
    );
  }
  const why =
    status === 401
      ? 'does not take the access token of the connection. An admin enters a new one'
      : status < 400
        ? 'sends to another address, which is not followed: the repository may have been renamed'
        : 'does not let the connection read this repository';
  return new SlipwayError('integration.provider-refused', `${host} ${why} (${status}).`);
}
