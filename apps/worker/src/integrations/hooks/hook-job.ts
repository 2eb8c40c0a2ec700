import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { deliveriesUrl, type Provider, ProviderRefusal, type RepositoryHooks } from '@slipway/integrations';
import {
  findHookConnection,
  findWebhookSecret,
  type HookConnection,
  type SealedSecret,
  settleSignature,
} from '@slipway/integrations/hooks';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, readOutboxJob } from '../../orgs/orgs.queries.js';
import type { ConnectionCalls } from '../connection-calls.js';
import { BAD_TOKEN, NO_TOKEN } from '../write-access.js';
import { needAttention } from '../write-access.queries.js';
import { findHook, type HookOutcome, type HookRow, noteHook, postponeHook } from './hooks.queries.js';

const QUEUE = 'integration-hook';
/** Where a host that is away or limits calls says no time. Milliseconds. */
const AGAIN_MS = 300_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Makes one webhook at its git host, or sees whether it is still there, and writes down what became of it. Repeatable
 * at any point.
 */
export class HookJob {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly queue: Queue,
    private readonly clock: Clock,
    private readonly publicUrl: string | null,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, hookId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, QUEUE, hookId);
    const found = await inOrg(this.pool, orgId, async (client) => {
      const hook = await findHook(client, orgId, hookId);
      const connection = hook === null ? null : await findHookConnection(client, orgId, hook.connectionId);
      const secret = hook === null ? null : await findWebhookSecret(client, orgId, hook.connectionId);
      return hook === null || connection === null ? null : { hook, connection, secret };
    });
    const outcome = found === null ? null : await this.bring(orgId, found, signal);
    if (found !== null && outcome !== null) {
      if (outcome.waitMs !== null) {
        await postponeHook(this.pool, orgId, found.hook, { ms: outcome.waitMs, why: outcome.detail });
        return this.queue.add(QUEUE, { orgId, hookId }, { key: hookId, delayMs: outcome.waitMs });
      }
      await inOrg(this.pool, orgId, (client) =>
        noteHook(client, orgId, found.hook, { now: this.clock.now(), outcome }),
      );
      if (outcome.state !== found.hook.state)
        this.logger.info(
          { connection_id: found.connection.id, hook: hookId, state: outcome.state },
          'webhook state changed',
        );
    }
    // What was asked for meanwhile has another row.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }

  private async bring(
    orgId: string,
    { hook, connection, secret }: { hook: HookRow; connection: HookConnection; secret: SealedSecret | null },
    signal: AbortSignal,
  ): Promise<HookOutcome & { readonly waitMs: number | null }> {
    const failed = (detail: string): HookOutcome & { waitMs: null } => ({ state: 'failed', detail, waitMs: null });
    const access = this.providers.get(connection.provider)?.codeHost;
    if (connection.state === 'disabled') return failed('The connection is disabled.');
    // A token that was refused is not tried again for each webhook.
    if (connection.state === 'needs-attention') return failed(BAD_TOKEN);
    if (access?.hooks === undefined || this.publicUrl === null || connection.platform)
      return failed('Slipway makes no webhooks of this connection.');
    if (secret === null) return failed('The connection has no webhook secret.');
    const opened = await this.calls.open(orgId, connection, access);
    if (opened === null) return failed(NO_TOKEN);
    const url = deliveriesUrl(this.publicUrl, connection);
    try {
      const hooks = access.hooks(opened.client(signal));
      const isCurrent = hook.state !== 'queued' && hook.secretId === secret.id;
      const health = isCurrent ? await hooks.look(hook.repository, url) : 'missing';
      if (health === 'active') return { state: 'installed', detail: null, waitMs: null };
      // The cause needs a user: it is made again on request.
      if (health === 'disabled')
        return {
          state: 'disabled',
          detail: `${connection.host} has switched it off, as after many deliveries that failed.`,
          waitMs: null,
        };
      return { ...(await this.install(orgId, { hook, connection, secret, url }, hooks)), waitMs: null };
    } catch (error) {
      signal.throwIfAborted();
      const { waitMs, ...outcome } = outcomeOf(error, connection.host, this.clock.now());
      if (error instanceof ProviderRefusal && error.kind === 'credential')
        await needAttention(this.pool, orgId, { connectionId: connection.id, tokenId: opened.tokenId, why: BAD_TOKEN });
      this.logger.warn({ connection_id: connection.id, hook: hook.id, err: error }, 'failed to create a webhook');
      return { ...outcome, waitMs };
    }
  }

  private async install(
    orgId: string,
    { hook, connection, secret, url }: { hook: HookRow; connection: HookConnection; secret: SealedSecret; url: string },
    hooks: RepositoryHooks,
  ): Promise<HookOutcome> {
    const { id, ...sealed } = secret;
    const opened = await this.envelope.open(
      orgId,
      sealed,
      integrationSecretContext({ id, connectionId: connection.id, kind: 'webhook' }),
    );
    const { signature, settings } = connection;
    const made = await hooks.install(hook.repository, {
      url,
      secret: opened,
      signature,
      confidential: settings.confidential,
    });
    const { id: hookId, fullName: repository } = made;
    const settled = await inOrg(this.pool, orgId, (client) =>
      settleSignature(client, orgId, connection.id, made.signature),
    );
    if (!settled)
      return {
        state: 'failed',
        detail: `${connection.host} does not sign this webhook, and deliveries of the connection have to be signed.`,
      };
    return { state: 'installed', detail: null, made: { hookId, repository, secretId: id } };
  }
}

function outcomeOf(error: unknown, host: string, now: Date): HookOutcome & { readonly waitMs: number | null } {
  if (isRefusedAddress(error))
    return {
      state: 'failed',
      detail: `${host} is not at a public address, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).`,
      waitMs: null,
    };
  if (!(error instanceof ProviderRefusal)) throw error;
  const wait = Math.min(
    Math.max(error.retryAt === null ? AGAIN_MS : error.retryAt.getTime() - now.getTime(), 1_000),
    LONGEST_WAIT_MS,
  );
  switch (error.kind) {
    case 'limited':
      return { state: 'failed', detail: `${host} limits our calls.`, waitMs: wait };
    case 'unavailable':
      return { state: 'failed', detail: `${host} does not answer.`, waitMs: wait };
    case 'credential':
      return { state: 'failed', detail: BAD_TOKEN, waitMs: null };
    case 'forbidden':
      return {
        state: 'missing-right',
        detail: 'The access token may not create webhooks there: it must belong to an administrator of the repository.',
        waitMs: null,
      };
    case 'missing':
      return {
        state: 'missing-right',
        detail: `${host} knows no such repository, or does not show its webhooks to the access token.`,
        waitMs: null,
      };
    case 'unreadable':
      return {
        state: 'failed',
        detail: `${host} gave no answer of a repository: it may have been renamed or moved.`,
        waitMs: null,
      };
    default:
      return {
        state: 'failed',
        detail: error.status === null ? error.message : `${host} refused the webhook (${error.status}).`,
        waitMs: null,
      };
  }
}
