import type { QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { type HookDeliveries, type Provider, ProviderRefusal } from '@slipway/integrations';
import type { InstalledApps } from '@slipway/integrations/apps';
import type { Logger } from '@slipway/telemetry';
import type { ConnectionCalls } from '../connection-calls.js';
import { type Looked, missedSince } from './missed-deliveries.js';
import {
  alreadyKnown,
  findRecoverable,
  forgetAsked,
  noteAsked,
  noteRecovered,
  type Recoverable,
  type RecoverySource,
} from './recovery.queries.js';

/**
 * Deliveries of one source that are asked for in one round; the next one goes on. Below what providers let be written a
 * minute.
 */
const MAX_ASKED = 40;
/** Webhooks of one connection checked in one round. */
const MAX_HOOKS = 50;
/** How long a list of the platform's app is used. Milliseconds. */
const HELD_MS = 60_000;
/**
 * Maximum age of an installation's stored state. Milliseconds; deliveries report changes at once, where there are any.
 */
const CHECK_MS = 60 * 60_000;

/**
 * Has a provider send again what it could not deliver, as while we were away: each delivery once. What comes is taken
 * and deduplicated like any other.
 */
export class DeliveryRecovery {
  private readonly held = new Map<
    string,
    { readonly until: Date; readonly at: Date; readonly looked: Promise<Looked> }
  >();

  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly apps: InstalledApps,
    private readonly calls: ConnectionCalls,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run({ orgId, connectionId }: QueuePayload<'integration-recovery'>, signal: AbortSignal): Promise<void> {
    const found = await findRecoverable(this.pool, orgId, connectionId, MAX_HOOKS);
    if (found === null) return;
    await this.check(orgId, found);
    for (const source of found.sources) {
      signal.throwIfAborted();
      const now = this.clock.now();
      let until: Date | null = null;
      try {
        until = await this.recover(orgId, found, { source, now }, signal);
      } catch (error) {
        if (!(error instanceof ProviderRefusal)) throw error;
        this.logger.warn(
          { connection_id: connectionId, hook: source.hook?.id, kind: error.kind, status: error.status },
          'failed to list missed deliveries',
        );
        await noteRecovered(this.pool, orgId, connectionId, { hook: source.hook, until: null, now });
        // Its limits and its absence are the connection's, not the source's.
        if (error.kind === 'limited' || error.kind === 'unavailable' || error.kind === 'credential') return;
        continue;
      }
      await noteRecovered(this.pool, orgId, connectionId, { hook: source.hook, until, now });
    }
  }

  /** @returns until when nothing is missing now; `null`: that is not known. @throws ProviderRefusal */
  private async recover(
    orgId: string,
    found: Recoverable,
    { source, now }: { readonly source: RecoverySource; readonly now: Date },
    signal: AbortSignal,
  ): Promise<Date | null> {
    const { connection, platform } = found;
    const deliveries = await this.deliveriesOf(orgId, found, source, signal);
    if (deliveries === null) return null;
    const { missed, whole } = await (platform
      ? this.ofPlatform(connection.provider, deliveries, source.until, now)
      : missedSince(deliveries, source.until, now));
    if (!whole) this.logger.warn({ connection_id: connection.id }, 'provider has more deliveries than one sweep reads');
    // The platform's app delivers for all organizations: request only those of this installation.
    const ours = platform
      ? missed.filter(({ attempt }) => attempt.installationId !== null && attempt.installationId === connection.account)
      : missed;
    const known = await alreadyKnown(
      this.pool,
      orgId,
      connection.id,
      ours.map(({ attempt }) => attempt.deliveryId),
    );
    const wanted = ours.filter(({ attempt }) => !known.has(attempt.deliveryId));
    for (const { attempt, failedAt } of wanted.slice(0, MAX_ASKED)) {
      signal.throwIfAborted();
      const { deliveryId, event } = attempt;
      if (!(await noteAsked(this.pool, orgId, connection.id, { deliveryId, event, failedAt, now: this.clock.now() })))
        continue;
      try {
        await deliveries.redeliver(attempt.id);
      } catch (error) {
        // Whether it was heard is seen in the provider's list the next time: a second attempt of it is there then.
        if (!(error instanceof ProviderRefusal) || error.kind !== 'missing')
          await forgetAsked(this.pool, orgId, connection.id, deliveryId);
        throw error;
      }
      this.logger.info(
        { connection_id: connection.id, provider_delivery_id: deliveryId, event, failed_at: failedAt },
        'missed delivery requested again',
      );
    }
    const next = wanted[MAX_ASKED];
    return next?.failedAt ?? now;
  }

  /** One list for all connections of the platform's app that are checked within a minute. */
  private ofPlatform(provider: string, deliveries: HookDeliveries, until: Date, now: Date): Promise<Looked> {
    const held = this.held.get(provider);
    if (held !== undefined && held.until <= until && held.at.getTime() > now.getTime() - HELD_MS) return held.looked;
    const looked = missedSince(deliveries, until, now);
    this.held.set(provider, { until, at: now, looked });
    looked.catch(() => this.held.delete(provider));
    return looked;
  }

  private async deliveriesOf(
    orgId: string,
    { connection }: Recoverable,
    { hook }: RecoverySource,
    signal: AbortSignal,
  ): Promise<HookDeliveries | null> {
    if (hook === null) {
      const opened = await this.apps.open(orgId, connection.id);
      return opened === null ? null : opened.access.deliveries(this.apps.asApp(opened));
    }
    const access = this.providers.get(connection.provider)?.codeHost;
    if (access?.hookDeliveries === undefined) return null;
    const opened = await this.calls.open(orgId, connection, access, { repository: hook.repository });
    return opened === null
      ? null
      : access.hookDeliveries(opened.client(signal), { repository: hook.repository, id: hook.id });
  }

  private async check(orgId: string, { connection, checkedAt }: Recoverable): Promise<void> {
    if (checkedAt !== null && checkedAt.getTime() > this.clock.now().getTime() - CHECK_MS) return;
    try {
      await this.apps.refresh(orgId, connection.id);
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error;
      this.logger.warn(
        { connection_id: connection.id, kind: error.kind, status: error.status },
        'failed to check the installation of an app',
      );
    }
  }
}
