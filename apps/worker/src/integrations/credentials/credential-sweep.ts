import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { type AppHookState, type Provider, ProviderRefusal } from '@slipway/integrations';
import type { ConnectionCredentials } from '@slipway/integrations/credentials';
import type { Logger } from '@slipway/telemetry';
import type { ConversationLocks } from '../../conversations/conversation-locks.js';
import { Lead } from '../../sweeps/leads/lead.js';
import { SweepRuns } from '../../sweeps/leads/sweep-runs.js';
import type { ConnectionCalls } from '../connection-calls.js';
import { BAD_TOKEN } from '../write-access.js';
import { needAttention } from '../write-access.queries.js';
import {
  type DueCredential,
  type DueHooks,
  dueForHooks,
  dueForInspection,
  dueForRenewal,
  endUnconfirmed,
  noteHooks,
  noteInspection,
} from './credentials.queries.js';

const EVERY_MS = 30_000;
/** Of one round; the others come with the next. */
const BATCH = 50;
/** Asked at a time. */
const AT_ONCE = 8;
const HOUR_MS = 3_600_000;
/**
 * How often a provider is asked about an access token that was entered, and about the webhooks of an app. Milliseconds.
 */
const INSPECT_MS = 24 * HOUR_MS;
const HOOKS_MS = 12 * HOUR_MS;
/** After a failure: sooner. Milliseconds. */
const RETRY_MS = HOUR_MS;

export interface CredentialSweepOptions {
  readonly pool: SqlPool;
  readonly credentials: ConnectionCredentials;
  readonly calls: ConnectionCalls;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where providers deliver to; `null`: the operator has not said. */
  readonly publicUrl: string | null;
}

/**
 * Maintains credentials before they are needed: renews expiring ones, checks entered tokens, maintains webhooks of
 * apps, revokes unconfirmed tokens. One worker at a time.
 */
export class CredentialSweep {
  private readonly lead: Lead;
  private readonly runs: SweepRuns;

  constructor(private readonly options: CredentialSweepOptions) {
    const { locks, logger, pool } = options;
    this.lead = new Lead({
      name: 'credentials',
      everyMs: EVERY_MS,
      locks,
      logger,
      round: (signal) => this.round(signal),
    });
    this.runs = new SweepRuns(pool);
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round, if this worker leads. */
  tick(): Promise<void> {
    return this.lead.tick();
  }

  private async round(signal: AbortSignal): Promise<void> {
    const { pool, providers, clock } = this.options;
    const now = clock.now();
    const inspectable = [...providers.values()].filter(({ tokens }) => tokens !== undefined).map(({ id }) => id);
    const hooked = new Map(
      [...providers.values()].flatMap(({ id, appHooks }) =>
        appHooks === undefined ? [] : [[id, appHooks.signature] as const],
      ),
    );
    await endUnconfirmed(pool, now, BATCH);
    await each(await dueForRenewal(pool, now, BATCH), signal, (due) => this.renew(due));
    await each(await dueForInspection(pool, inspectable, new Date(now.getTime() - INSPECT_MS), BATCH), signal, (due) =>
      this.inspect(due, signal),
    );
    await each(await dueForHooks(pool, hooked, new Date(now.getTime() - HOOKS_MS), BATCH), signal, (due) =>
      this.keepHooks(due, signal),
    );
    await this.runs.completed('credentials');
  }

  /** What comes of it is said and kept by the source. */
  private async renew({ orgId, connection, secret }: DueCredential): Promise<void> {
    await this.options.credentials.of(orgId, connection, secret, { renew: true }).catch((error: unknown) => {
      if (!(error instanceof ProviderRefusal))
        this.options.logger.error({ connection_id: connection.id, err: error }, 'failed to renew an authorization');
    });
  }

  private async inspect({ orgId, connection, secret }: DueCredential, signal: AbortSignal): Promise<void> {
    const { pool, calls, providers, clock, logger } = this.options;
    const provider = providers.get(connection.provider);
    const access = provider?.answers ?? provider?.rights;
    if (provider?.tokens === undefined || access === undefined) return;
    const later = new Date(clock.now().getTime() - INSPECT_MS + RETRY_MS);
    try {
      const opened = await calls.open(orgId, connection, access);
      if (opened === null || opened.tokenId !== secret.id) return;
      const facts = await provider.tokens.inspect(opened.client(signal));
      await inOrg(pool, orgId, (client) => noteInspection(client, orgId, secret.id, { at: clock.now(), facts }));
    } catch (error) {
      signal.throwIfAborted();
      const ended = error instanceof ProviderRefusal && error.kind === 'credential';
      if (
        ended &&
        (await needAttention(pool, orgId, { connectionId: connection.id, tokenId: secret.id, why: BAD_TOKEN }))
      )
        logger.warn(
          { connection_id: connection.id, provider: connection.provider },
          'access token of a connection refused',
        );
      await inOrg(pool, orgId, (client) => noteInspection(client, orgId, secret.id, { at: later, facts: null }));
    }
  }

  private async keepHooks({ orgId, connection, known }: DueHooks, signal: AbortSignal): Promise<void> {
    const { pool, calls, providers, clock, publicUrl } = this.options;
    const hooks = providers.get(connection.provider)?.appHooks;
    if (hooks === undefined) return;
    const now = clock.now();
    let at = now;
    let state: AppHookState;
    const before = known ?? { ids: [], filter: '', expiresAt: null, problem: null };
    try {
      if (publicUrl === null)
        state = { ...before, problem: 'The operator has not said where Slipway is reached (PUBLIC_URL of worker).' };
      else {
        const opened = await calls.open(orgId, connection, hooks);
        if (opened === null) return;
        const url = new URL(`/api/integration/${connection.provider}/events/${connection.id}`, publicUrl).href;
        state = await hooks.keep(opened.client(signal), { url, known, now });
      }
    } catch (error) {
      signal.throwIfAborted();
      at = new Date(now.getTime() - HOOKS_MS + RETRY_MS);
      const why =
        error instanceof ProviderRefusal
          ? `${error.kind}${error.status === null ? '' : ` (${error.status})`}`
          : 'an unexpected failure';
      state = { ...before, problem: `${connection.host} did not keep the webhooks: ${why}.` };
      this.options.logger.warn(
        { connection_id: connection.id, provider: connection.provider, why },
        'webhooks of an app not stored, will retry',
      );
    }
    await inOrg(pool, orgId, (client) => noteHooks(client, orgId, connection.id, { at, state }));
  }
}

/** Some at a time. What one of them throws ends no other. */
async function each<T>(all: readonly T[], signal: AbortSignal, work: (one: T) => Promise<void>): Promise<void> {
  for (let index = 0; index < all.length && !signal.aborted; index += AT_ONCE) {
    const settled = await Promise.allSettled(all.slice(index, index + AT_ONCE).map(work));
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
