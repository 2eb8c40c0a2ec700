import { Inject, Injectable } from '@nestjs/common';
import {
  allowsAnalytics,
  countWaiting,
  keepEvents,
  MAX_WAITING,
  type MadeEvent,
  waitingOfOrg,
  wireEvent,
} from '@slipway/analytics';
import type { SignedIn } from '@slipway/auth';
import {
  MAX_WAITING_EVENTS,
  type PageEvent,
  type RecordPageEvent,
  type WaitingEvents,
} from '@slipway/contracts/operate';
import { type Principal } from '@slipway/contracts/organizations';
import { asSystem, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { currentContext } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, SQL_POOL } from '../../platform/tokens.js';
import { FlagsService } from './flags.service.js';

/** How old the count of what waits may be. Milliseconds. */
const COUNTED_MS = 10_000;

/** What the page reports, into the outbox that worker sends. Answers say nothing of what became of it. */
@Injectable()
export class AnalyticsService {
  private counted = { at: Number.NEGATIVE_INFINITY, isFull: false };

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly flags: FlagsService,
  ) {}

  /** Stored only with all consents; for an organization of others, or a full outbox, nothing is. */
  async record({ userId, orgs }: SignedIn, { id, organization, event }: RecordPageEvent): Promise<void> {
    const isMine = orgs.some((org) => org.id === organization);
    if (!allowsAnalytics(this.config) || !isMine || currentContext()?.refusesTracking === true || (await this.isFull()))
      return;
    const made = (what: MadeEvent['event'], source: string): MadeEvent => ({
      event: what,
      source: `${userId} ${source}`,
      userId,
      at: this.clock.now(),
    });
    if (event.name === 'experiment_exposed') {
      const variant = (await this.flags.valuesFor(userId, organization))[event.flag];
      const exposed = made({ name: event.name, properties: { flag: event.flag, variant } }, `${event.flag} ${variant}`);
      await inOrg(this.pool, organization, (client) =>
        this.expose(client, organization, exposed, [userId, event.flag, variant]),
      );
    } else
      await inOrg(this.pool, organization, (client) =>
        keepEvents(client, organization, [made(withProperties(event), id)]),
      );
  }

  async waiting({ orgId }: Principal): Promise<WaitingEvents> {
    const { ANALYTICS_SECRET: secret } = this.config;
    const { events, total } = await inOrg(this.pool, orgId, (client) =>
      waitingOfOrg(client, orgId, MAX_WAITING_EVENTS),
    );
    return {
      host: allowsAnalytics(this.config) ? (this.config.POSTHOG_HOST ?? null) : null,
      total,
      data: events.map((stored) => {
        const { uuid, event, distinctId, organization, timestamp, properties } = wireEvent(secret ?? '', stored);
        const whose = secret === undefined ? { user: null, organization: null } : { user: distinctId, organization };
        return { id: uuid, name: event, at: timestamp.toISOString(), ...whose, properties };
      }),
    };
  }

  /** Once for a user, a flag and a value, and only when it was allowed. */
  private async expose(
    client: PoolClient,
    orgId: string,
    event: MadeEvent,
    key: readonly [string, string, string],
  ): Promise<void> {
    const { rowCount } = await client.query(
      'INSERT INTO app.flag_exposure (user_id, flag, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [...key],
    );
    if (rowCount === 1 && (await keepEvents(client, orgId, [event])) === 0)
      await client.query('DELETE FROM app.flag_exposure WHERE user_id = $1 AND flag = $2 AND value = $3', [...key]);
  }

  private async isFull(): Promise<boolean> {
    const now = performance.now();
    if (now - this.counted.at > COUNTED_MS) {
      this.counted = { ...this.counted, at: now };
      const count = await asSystem(this.pool, 'slipway_app_system', 'waiting analytics events', countWaiting);
      this.counted = { at: now, isFull: count >= MAX_WAITING };
    }
    return this.counted.isFull;
  }
}

function withProperties(event: Exclude<PageEvent, { name: 'experiment_exposed' }>): MadeEvent['event'] {
  const { name } = event;
  return name === 'example_task_chosen' ? { name, properties: { position: event.position } } : { name, properties: {} };
}
