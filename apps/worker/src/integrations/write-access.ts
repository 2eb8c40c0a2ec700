import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { type Actor, type Permission, type Provider, ProviderRefusal, type RepositoryRef } from '@slipway/integrations';
import type { StoredConnection, WriteAccess } from '@slipway/integrations/deliveries';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Logger } from '@slipway/telemetry';
import type { ConnectionCalls, OpenedConnection } from './connection-calls.js';
import { needAttention } from './write-access.queries.js';

/** How long an answer is believed. Milliseconds: who loses the right starts nothing after that. */
const FRESH_MS = 60_000;
/** Answers that are held; the oldest goes first. */
const MAX_HELD = 5_000;
export const BAD_TOKEN = 'The provider refuses the access token. Enter a new one.';
export const NO_TOKEN = 'The connection has no access token.';

export type AccessAnswer =
  | { readonly access: WriteAccess; readonly why: string | null }
  /** The provider is away or limits calls: to be asked again. @member at not before; `null`: it does not say. */
  | { readonly access: 'later'; readonly why: string; readonly at: Date | null };

/** Asks the provider of a connection, now, whether the actor of an intent may write to its repository. */
export type AskWriteAccess = (
  orgId: string,
  connection: StoredConnection,
  asked: AskedAccess,
  signal: AbortSignal,
) => Promise<AccessAnswer>;
export interface AskedAccess {
  readonly repository: Pick<RepositoryRef, 'fullName'> | null;
  readonly actor: Pick<Actor, 'id' | 'login'>;
}

/** Asks git hosts with the access token of the connection. Whatever is not a clear yes of the same account is none. */
export class ProviderAccess {
  private readonly held = new Map<string, { readonly until: number; readonly answer: AccessAnswer }>();

  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws SlipwayError `secret.unreadable`; what the database throws. */
  readonly ask: AskWriteAccess = async (orgId, connection, { repository, actor }, signal) => {
    const access = this.providers.get(connection.provider)?.rights;
    if (repository === null) throw new Error('an intent without a repository is not asked about');
    if (access === undefined) return unknown(`Slipway does not ask ${connection.provider} about rights yet.`);
    const key = JSON.stringify([connection.id, repository.fullName, actor.id, actor.login]);
    const now = this.clock.now().getTime();
    const held = this.held.get(key);
    if (held !== undefined && held.until > now) return held.answer;
    let opened: OpenedConnection | null = null;
    let permission: Permission;
    try {
      opened = await this.calls.open(orgId, connection, access, { repository: repository.fullName, step: 'rights' });
      if (opened === null) return unknown(NO_TOKEN);
      permission = await access.permissionOf(opened.client(signal), repository.fullName, actor);
    } catch (error) {
      signal.throwIfAborted();
      // Without a credential no call was made.
      if (opened === null && !(error instanceof ProviderRefusal)) throw error;
      return this.refused(orgId, connection, opened?.tokenId ?? null, error);
    }
    const answer: AccessAnswer = { access: accessOf(permission, actor.id), why: null };
    this.hold(key, { until: now + FRESH_MS, answer });
    return answer;
  };

  private async refused(
    orgId: string,
    connection: StoredConnection,
    tokenId: string | null,
    error: unknown,
  ): Promise<AccessAnswer> {
    const place = { connection_id: connection.id, provider: connection.provider };
    if (isRefusedAddress(error))
      return unknown(
        `${connection.host} is not at a public address, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).`,
      );
    this.logger.warn({ ...place, err: error }, 'failed to read write access at a provider');
    // What the name of a repository or the address of the connection cannot be is no call at all.
    if (!(error instanceof ProviderRefusal)) return unknown(error instanceof Error ? error.message : null);
    switch (error.kind) {
      case 'limited':
        return { access: 'later', why: 'The provider limits our calls.', at: error.retryAt };
      case 'unavailable':
        return {
          access: 'later',
          why: `${connection.host} does not answer${error.status === null ? '' : ` (${error.status})`}.`,
          at: error.retryAt,
        };
      case 'credential':
        if (
          tokenId !== null &&
          (await needAttention(this.pool, orgId, { connectionId: connection.id, tokenId, why: BAD_TOKEN }))
        )
          this.logger.warn(place, 'access token of a connection refused');
        return unknown(BAD_TOKEN);
      case 'forbidden':
        return unknown(
          'The access token may not see who may write there: it needs the rights of an administrator of the repository.',
        );
      case 'missing':
        return unknown('The provider knows no such repository or account, or the access token does not reach it.');
      default:
        return unknown(`The provider's answer is none that we know (${error.kind}).`);
    }
  }

  private hold(key: string, entry: { until: number; answer: AccessAnswer }): void {
    this.held.delete(key);
    this.held.set(key, entry);
    if (this.held.size > MAX_HELD) this.held.delete(this.held.keys().next().value as string);
  }
}

/** @param actorId of the delivery: a login may belong to another user by now. */
function accessOf({ userId, access }: Permission, actorId: string): WriteAccess {
  if (userId !== actorId) return 'other-account';
  return access === 'admin' || access === 'write' ? 'write' : 'none';
}

const unknown = (why: string | null): AccessAnswer => ({ access: 'unknown', why });
