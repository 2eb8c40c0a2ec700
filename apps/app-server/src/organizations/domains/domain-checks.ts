import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { asSystem, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { type AuditRecord, auditOf } from '../../audit/audit-statement.js';
import { CLOCK, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import {
  type DomainRow,
  findDomain,
  lockDomain,
  markChecked,
  markMissing,
  takeDueDomains,
  withdrawVerification,
} from './domains.queries.js';
import { TxtLookup } from './txt-lookup.js';
import { recordOf } from './verification-record.js';

const HOUR_MS = 3_600_000;
/** Poll interval of a replica for due domains. Milliseconds. */
const SWEEP_MS = HOUR_MS;
/**
 * Lookups of one sweep. Each ends within `TxtLookup`'s limit, so a sweep stays below three minutes; other replicas and
 * the next sweep take the others.
 */
const SWEEP_DOMAINS = 20;
/** A record that was seen within this time is taken as present. Milliseconds. */
const FRESH_MS = 24 * HOUR_MS;
/** After a lookup without a certain answer, the next one waits this long. Milliseconds. */
const RETRY_MS = HOUR_MS / 6;
/**
 * While no name server answers, people go on joining this long after the record was last seen. Also how long a missing
 * record keeps the verification. Milliseconds.
 */
const GRACE_MS = 7 * 24 * HOUR_MS;

const SYSTEM = { kind: 'system', id: 'app-server', label: 'Slipway' } as const;

/**
 * Checks verified domains again: once a day, and at a sign-in that would join by one not checked for a day. A record
 * that is certainly missing suspends joining at once, and withdraws the verification after seven days, so that the
 * domain's next holder can verify it. Without a certain answer everything stays for seven days.
 */
@Injectable()
export class DomainChecks implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly lookup: TxtLookup,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.running = this.sweep().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'domain check failed, will retry in an hour'),
      );
    }, SWEEP_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One sweep over the domains that are due. Replicas share them: taking one marks it as checked. */
  async sweep(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - FRESH_MS);
    const due = await asSystem(this.pool, 'slipway_app_system', 'verified domains are due for a check', (client) =>
      takeDueDomains(client, before, SWEEP_DOMAINS),
    );
    for (const { orgId, domain } of due) await this.check(orgId, domain);
  }

  /** Whether users may join by the domain at this moment. Checks its record when the last check is a day old. */
  async mayJoinBy(orgId: string, domain: string): Promise<boolean> {
    const row = await inOrg(this.pool, orgId, (client) => findDomain(client, orgId, domain));
    if (row?.verified_at == null || row.missing_since !== null) return false;
    const now = this.clock.now().getTime();
    const seenAt = seen(row);
    if (now - seenAt < FRESH_MS) return true;
    if (now - (row.checked_at?.getTime() ?? 0) < RETRY_MS) return now - seenAt < GRACE_MS;
    const found = await this.check(orgId, domain);
    return found ?? now - seenAt < GRACE_MS;
  }

  /**
   * @returns whether the record is there; `null` without a certain answer, which changes nothing but the time of the
   * check.
   */
  async check(orgId: string, domain: string): Promise<boolean | null> {
    const row = await inOrg(this.pool, orgId, (client) => findDomain(client, orgId, domain));
    if (row === null) return false;
    const record = recordOf(row);
    const found = await this.lookup.find(record.name).then(
      (values) => values.includes(record.value),
      (error: unknown) => {
        this.logger.warn({ err: error, org_id: orgId, domain }, 'domain record lookup failed, will retry');
        return null;
      },
    );
    return inOrg(this.pool, orgId, async (client) => {
      const locked = await lockDomain(client, orgId, domain);
      // Released or claimed again meanwhile: the answer is about another record.
      if (locked?.verified_at == null || locked.challenge !== row.challenge) return false;
      if (found === false) await this.missing(client, orgId, locked);
      else await this.present(client, orgId, locked, found === true);
      return found;
    });
  }

  private async present(client: PoolClient, orgId: string, row: DomainRow, certain: boolean): Promise<void> {
    await markChecked(client, orgId, row.domain, certain ? 'found' : 'unknown');
    if (certain && row.missing_since !== null)
      await this.audit(client, orgId, { action: 'domain.record-found', target: row.domain });
  }

  private async missing(client: PoolClient, orgId: string, row: DomainRow): Promise<void> {
    const since = row.missing_since ?? this.clock.now();
    if (this.clock.now().getTime() - since.getTime() >= GRACE_MS) {
      await withdrawVerification(client, orgId, row.domain);
      await this.audit(client, orgId, {
        action: 'domain.unverify',
        target: row.domain,
        before: { autoJoinRole: row.auto_join_role },
      });
      return;
    }
    await markMissing(client, orgId, row.domain, since);
    if (row.missing_since === null)
      await this.audit(client, orgId, { action: 'domain.record-missing', target: row.domain });
  }

  private async audit(client: PoolClient, orgId: string, entry: AuditRecord): Promise<void> {
    await client.query(auditOf(this.ids.uuid(), { orgId, actor: SYSTEM }, entry));
  }
}

const seen = ({ confirmed_at, verified_at }: DomainRow): number => (confirmed_at ?? verified_at)?.getTime() ?? 0;
