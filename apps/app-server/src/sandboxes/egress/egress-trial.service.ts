import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import {
  type EgressEffect,
  type EgressTrial,
  type EgressTrialCount,
  MAX_TRIAL_CONVERSATIONS,
  MAX_TRIAL_HOSTS,
  type TryEgressRule,
} from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import { decideEgress, EGRESS_OPEN_PORTS, type HostPattern } from '@slipway/net';
import type { Config } from '../../config.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { CLOCK, CONFIG, SQL_POOL } from '../../platform/tokens.js';
import { hostKey } from '../credentials/credentials.queries.js';
import { decidable, type RuleAbout, rulesOf } from './conversation-rules.js';
import { credentialsFor, observes } from './egress-decisions.service.js';
import type { EgressPlace } from './egress-requests.queries.js';
import { scopeOf } from './egress-rules.service.js';
import { allRules, credentialHosts, MAX_TRIED, type TriedRow, triedRows } from './egress-trial.queries.js';
import { assertJudged, limitsOf } from './rule-limits.js';
import { isOfInternet, namesAbove, rulePattern } from './rule-pattern.js';

const DRAFT = 'draft';
const HOUR_MS = 3_600_000;
const CLEAR_PORT = 80;

type Settings = Parameters<typeof observes>[0];

/** What decides about connections: as it is, and as it would be. */
interface World {
  readonly rules: ReadonlyMap<string, readonly RuleAbout[]>;
  readonly credentials: ReadonlyMap<string, EgressPlace['credentials']>;
  readonly settings: Settings;
}

/**
 * Tries a change of rules on what was counted: with today's rules, credentials and settings and with the change. What
 * the two decide alike is not of the change, also where it was decided in another way at the time.
 */
@Injectable()
export class EgressTrialService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  private get opensHosts(): boolean {
    return this.config.CREDENTIAL_CONTROL_SECRET !== undefined;
  }

  /**
   * @throws SlipwayError `request.invalid`, `egress.too-wide`, `egress.no-broker`; `resource.not-found` for a rule that
   * there is not.
   */
  try(caller: Principal, change: TryEgressRule): Promise<EgressTrial> {
    const now = this.clock.now().getTime();
    const draft = change.rule === undefined ? null : draftOf(change.rule, now, this.opensHosts);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const { orgId, permissions } = caller;
      const rules = await allRules(client, orgId);
      const removed = change.remove === undefined ? null : rules.find(({ id }) => id === change.remove);
      if (removed === undefined) throw notFound();
      const rows = await triedRows(client, orgId, { about: removed ?? draft, rule: removed?.id ?? null });
      const settings = await readOrgSettings(client, orgId);
      const credentials = byHost(await credentialHosts(client, orgId));
      const after = rules.filter((rule) => rule !== removed).concat(draft ?? []);
      const changed =
        change.egressUnknown === undefined ? settings : { ...settings, egressUnknown: change.egressUnknown };
      const trial = new Trial(
        { rules: byName(rules), credentials, settings },
        { rules: byName(after), credentials, settings: changed },
        now,
      );
      for (const row of rows.slice(0, MAX_TRIED)) trial.add(row);
      return {
        ...trial.result(permissions.has('conversation:read')),
        letThrough:
          removed === null
            ? null
            : countOf(
                rows.filter(({ by_rule }) => by_rule > 0),
                ({ by_rule }) => by_rule,
              ),
        limited: (removed ?? draft)?.limits != null,
        complete: rows.length <= MAX_TRIED && rules.length <= MAX_TRIED,
      };
    });
  }
}

class Trial {
  private readonly tried: TriedRow[] = [];
  private readonly changed: Readonly<Record<EgressEffect, TriedRow[]>> = { refused: [], asked: [], allowed: [] };

  constructor(
    private readonly before: World,
    private readonly after: World,
    private readonly now: number,
  ) {}

  add(row: TriedRow): void {
    this.tried.push(row);
    const effect = effectOf(row, this.after, this.now);
    if (effect === effectOf(row, this.before, this.now) || row.reached === (effect === 'allowed')) return;
    this.changed[effect].push(row);
  }

  result(namesConversations: boolean): Omit<EgressTrial, 'letThrough' | 'limited' | 'complete'> {
    const { refused, asked, allowed } = this.changed;
    const all = [...refused, ...asked, ...allowed];
    const ofConversation = Map.groupBy(all, ({ conversation }) => conversation);
    return {
      tried: countOf(this.tried),
      refused: countOf(refused),
      asked: countOf(asked),
      allowed: countOf(allowed),
      hosts: (['refused', 'asked', 'allowed'] as const)
        .flatMap((effect) => hostsOf(this.changed[effect]).map((host) => ({ ...host, effect })))
        .toSorted((one, other) => other.connections - one.connections)
        .slice(0, MAX_TRIAL_HOSTS),
      conversations: namesConversations
        ? [...ofConversation]
            .map(([id, rows]) => ({ id, title: rows[0]?.title ?? '', connections: sumOf(rows) }))
            .toSorted((one, other) => other.connections - one.connections)
            .slice(0, MAX_TRIAL_CONVERSATIONS)
        : [],
    };
  }
}

/** As `EgressDecisionsService.decide` does, of a connection that begins now. */
function effectOf({ conversation, ...row }: TriedRow, world: World, now: number): EgressEffect {
  const { host, port, listed } = row;
  const place = {
    conversation: row,
    rules: namesAbove(host).flatMap((name) => world.rules.get(name) ?? []),
    credentials: world.credentials.get(hostKey(host, port)) ?? [],
  };
  const rules = rulesOf(place.rules, row, { conversation }).map(decidable);
  const { verdict, opened } = decideEgress(rules, EGRESS_OPEN_PORTS, { host, port, now, openedBy: null });
  const hasCredential = credentialsFor(place).length > 0;
  // What goes through credential-broker never goes in clear.
  if (verdict === 'deny' || (port === CLEAR_PORT && (opened || hasCredential))) return 'refused';
  if (verdict === 'allow' || listed || hasCredential) return 'allowed';
  if (observes(world.settings) && isOfInternet(host)) return 'allowed';
  return world.settings.egressUnknown === 'refuse' ? 'refused' : 'asked';
}

/** @throws SlipwayError as when it is created. */
function draftOf(body: NonNullable<TryEgressRule['rule']>, now: number, opensHosts: boolean): RuleAbout & HostPattern {
  const { action, expiresInHours } = body;
  const pattern = rulePattern(body.host);
  const limits = limitsOf(body);
  assertJudged(limits, pattern, opensHosts);
  return {
    id: DRAFT,
    ...scopeOf(body),
    ...pattern,
    action,
    once: false,
    claim: null,
    endsAt: expiresInHours === undefined ? null : now + expiresInHours * HOUR_MS,
    limits:
      limits === null
        ? null
        : { ...limits, paths: limits.paths === null ? null : [...limits.paths], foreign: limits.foreign ?? 'refuse' },
  };
}

function byName(rules: readonly RuleAbout[]): Map<string, RuleAbout[]> {
  return Map.groupBy(rules, ({ host }) => host);
}

function byHost(
  credentials: Awaited<ReturnType<typeof credentialHosts>>,
): Map<string, EgressPlace['credentials'][number][]> {
  const found = new Map<string, EgressPlace['credentials'][number][]>();
  for (const { hosts, ...credential } of credentials)
    for (const host of hosts) found.set(host, [...(found.get(host) ?? []), credential]);
  return found;
}

const sumOf = (rows: readonly TriedRow[], of = ({ connections }: TriedRow): number => connections): number =>
  Math.min(
    rows.reduce((sum, row) => sum + of(row), 0),
    Number.MAX_SAFE_INTEGER,
  );

function countOf(rows: readonly TriedRow[], of?: (row: TriedRow) => number): EgressTrialCount {
  return {
    connections: sumOf(rows, of),
    hosts: new Set(rows.map(({ host, port }) => hostKey(host, port))).size,
    conversations: new Set(rows.map(({ conversation }) => conversation)).size,
  };
}

function hostsOf(rows: readonly TriedRow[]): Omit<EgressTrial['hosts'][number], 'effect'>[] {
  return [...Map.groupBy(rows, ({ host, port }) => hostKey(host, port)).values()].flatMap((of) =>
    of[0] === undefined ? [] : [{ host: of[0].host, port: of[0].port, ...pick(countOf(of)) }],
  );
}

const pick = ({ connections, conversations }: EgressTrialCount) => ({ connections, conversations });
