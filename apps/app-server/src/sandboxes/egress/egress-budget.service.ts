import { Inject, Injectable } from '@nestjs/common';
import type { OrgSettingValues } from '@slipway/contracts/organizations';
import type { EgressBytes, EgressBytesQuestion, EgressTraffic } from '@slipway/contracts/sandboxes';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { parse } from 'tldts';
import { orgSettingsOf } from '../../organizations/org-settings/org-settings.queries.js';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import {
  chargeBytes,
  type EgressLimits,
  lockSpending,
  readSpender,
  reserveBytes,
  sentOn,
  settleGrants,
} from './egress-budget.queries.js';
import { comparedHost } from './rule-pattern.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** A byte of the workspace counts so many times: once when it was reserved, the rest when it was seen. */
const WORKSPACE_FACTOR = 10;
/** Most that one report adds, so that sums stay numbers. Bytes. */
const MAX_CHARGE = 2 ** 50;

/**
 * Egress budgets: what the sandbox of a conversation may send on one day. egress-proxy reserves bytes before it sends
 * them, and gives back what it did not send, so that connections and replicas that race never send more. Called on a
 * listener of its own.
 */
@Injectable()
export class EgressBudgetService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Nothing is left for a conversation that is deleted, unknown or of another organization. */
  async reserve({ org, conversation: asked, host, settled, reserve }: EgressBytesQuestion): Promise<EgressBytes> {
    const conversation = asked !== null && UUID.test(asked) ? asked : null;
    const { day, renewsAt } = dayOf(this.clock.now());
    const none: EgressBytes = { limited: true, bytes: 0, over: 'conversation', renewsAt };
    return inOrg(this.pool, org, async (client) => {
      const spender = await readSpender(client, org, conversation);
      if (spender === null) return none;
      const limits = limitsOf(orgSettingsOf(spender.settings));
      const limited = limits !== null;
      if (conversation === null || !spender.exists) return limited ? none : { ...none, limited, over: null };
      if (settled.length > 0 || (limited && reserve !== null)) await lockSpending(client, conversation);
      await settleGrants(client, { org, conversation }, settled);
      if (!limited || reserve === null) return { limited, bytes: 0, over: null, renewsAt };
      const reserved = await reserveBytes(
        client,
        { org, conversation, domain: domainOf(host) },
        { ...reserve, day },
        limits,
      );
      return { limited, ...reserved, renewsAt };
    });
  }

  /**
   * Text of workspaces that credential-broker has seen, after it was sent: what is in flight meanwhile may exceed a
   * budget. Nothing for organizations without one.
   */
  async chargeWorkspace(
    client: PoolClient,
    org: string,
    seen: ReadonlyArray<{ readonly conversation: string; readonly host: string; readonly bytes: number }>,
  ): Promise<void> {
    const { day } = dayOf(this.clock.now());
    // In one order, as every other who locks more than one.
    for (const { conversation, host, bytes } of seen.toSorted((a, b) => (a.conversation < b.conversation ? -1 : 1))) {
      const spender = await readSpender(client, org, conversation);
      if (spender === null || !spender.exists || limitsOf(orgSettingsOf(spender.settings)) === null) continue;
      await lockSpending(client, conversation);
      await chargeBytes(
        client,
        { org, conversation, domain: domainOf(host) },
        { bytes: Math.min((WORKSPACE_FACTOR - 1) * bytes, MAX_CHARGE), day },
      );
    }
  }

  /** What a conversation may send today, for whoever reads it; `null`: there is no budget for all hosts together. */
  async today(client: PoolClient, orgId: string, conversation: string): Promise<EgressTraffic['budget']> {
    const spender = await readSpender(client, orgId, conversation);
    const limitBytes = spender === null ? null : (limitsOf(orgSettingsOf(spender.settings))?.conversation ?? null);
    if (limitBytes === null) return null;
    const { day, renewsAt } = dayOf(this.clock.now());
    return { limitBytes, spentBytes: await sentOn(client, orgId, conversation, day), renewsAt };
  }
}

/** In UTC. */
function dayOf(now: Date): { readonly day: string; readonly renewsAt: string } {
  const day = now.toISOString().slice(0, 10);
  return { day, renewsAt: new Date(Date.parse(day) + DAY_MS).toISOString() };
}

/** `null`: there is no budget. Bytes. */
function limitsOf({ egressDailyMb, egressDailyMbPerHost }: OrgSettingValues): EgressLimits | null {
  if (egressDailyMb === null && egressDailyMbPerHost === null) return null;
  return {
    conversation: egressDailyMb === null ? null : egressDailyMb * MB,
    host: egressDailyMbPerHost === null ? null : egressDailyMbPerHost * MB,
  };
}

/** Whoever has a domain has any number of names below it. */
function domainOf(host: string): string {
  const compared = comparedHost(host);
  return parse(compared, { allowPrivateDomains: true }).domain ?? compared;
}
