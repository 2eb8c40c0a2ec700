import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import type { OrgSettings, OrgSettingValues, Principal, UpdateOrgSettings } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { assertMayKeepPrompts, PromptLogService } from '../../agents/prompt-log/prompt-log.service.js';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { ModelsService } from '../../identity/me/models.service.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJobAs } from '../../platform/outbox.queries.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { allowAnalytics, lockOrgSettings, readOrgSettings, writeOrgSettings } from './org-settings.queries.js';

/** Settings that reach agents that run, and not only those that start next. */
const REACH_AGENTS: ReadonlySet<keyof OrgSettingValues> = new Set(['confirmation', 'fourEyes']);
/** The second is for a worker of the release before; it goes in 0.2.0. */
const JOBS = ['org-settings', 'org-brake'] as const;

/**
 * @throws SlipwayError `request.invalid` for hosts that are only observed where sandboxes are given no secrets, and for
 * a minimum age of packages without a host.
 */
function assertFitTogether(settings: OrgSettingValues): void {
  const { egressUnknown, secretsInSandbox, packageMinAgeDays, packageHosts } = settings;
  if (egressUnknown === 'observe' && secretsInSandbox === 'brokered-only')
    throw invalid(
      'egressUnknown',
      'is not observe beside secretsInSandbox brokered-only: only what somebody allowed may leave then',
    );
  if (packageMinAgeDays !== null && packageHosts.length === 0)
    throw invalid('packageHosts', 'names the hosts of package files where they have a minimum age');
}

function invalid(path: keyof OrgSettingValues, message: string): SlipwayError {
  return new SlipwayError('request.invalid', `${path}: ${message}`, { fields: [{ path, message }] });
}

@Injectable()
export class OrgSettingsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly models: ModelsService,
    private readonly promptLog: PromptLogService,
    private readonly jobs: Jobs,
  ) {}

  /** @throws SlipwayError `egress.no-broker` */
  private assertSeesFiles(): void {
    if (this.config.CREDENTIAL_CONTROL_SECRET !== undefined) return;
    throw new SlipwayError(
      'egress.no-broker',
      'How old a file is sees only credential-broker, which this installation does not run.',
    );
  }

  get(caller: Principal): Promise<OrgSettings> {
    return inOrg(this.pool, caller.orgId, (client) => readOrgSettings(client, caller.orgId));
  }

  /**
   * @param ifMatch the ETag of what the caller has read; `undefined` or `*`: the change is applied to whatever is
   * there.
   * @throws SlipwayError `settings.changed` when there is a newer version, `model.unknown` for a default that the
   * gateway does not offer, `request.invalid` for settings that do not fit together, what `PromptLogService.allow`
   * throws when it says how long prompts are kept.
   */
  async update(caller: Principal, change: UpdateOrgSettings, ifMatch: string | undefined): Promise<OrgSettings> {
    const { defaultModel } = change;
    if (
      typeof defaultModel === 'string' &&
      !(await this.models.offered(caller.orgId)).some(({ id }) => id === defaultModel)
    )
      throw new SlipwayError('model.unknown', `There is no model ${JSON.stringify(defaultModel)}.`);
    const { promptLogDays } = change;
    if (promptLogDays !== undefined && promptLogDays !== (await this.get(caller)).promptLogDays)
      await this.promptLog.allow(caller, promptLogDays);
    const { reachesAgents, ...settings } = await inOrg(this.pool, caller.orgId, async (client) => {
      const found = await lockOrgSettings(client, caller.orgId);
      if (found === null) throw notFound();
      const { version, ...before } = found;
      if (
        ifMatch !== undefined &&
        ifMatch.trim() !== '*' &&
        !ifMatch.split(',').some((tag) => tag.trim() === `"${version}"`)
      )
        throw new SlipwayError('settings.changed', 'The settings of the organization were changed by another user.');
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const after: OrgSettingValues = { ...before, ...given };
      const changed = (Object.keys(given) as Array<keyof OrgSettingValues>).filter(
        (key) => !isDeepStrictEqual(before[key], after[key]),
      );
      if (changed.length === 0) return { ...found, reachesAgents: false };
      assertFitTogether(after);
      if (after.packageMinAgeDays !== null && changed.includes('packageMinAgeDays')) this.assertSeesFiles();
      // It may have been changed since it was looked at.
      if (changed.includes('promptLogDays')) assertMayKeepPrompts(caller);
      const next = await writeOrgSettings(client, caller.orgId, after);
      if (changed.includes('analytics')) await allowAnalytics(client, caller.orgId, after.analytics);
      const only = (values: OrgSettingValues): Record<string, unknown> =>
        Object.fromEntries(changed.map((key) => [key, values[key]]));
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'setting.update',
          target: caller.orgId,
          before: only(before),
          after: only(after),
        }),
      );
      const reachesAgents = changed.some((key) => REACH_AGENTS.has(key));
      if (reachesAgents) for (const job of JOBS) await wantJobAs(client, job, caller.orgId, { orgId: caller.orgId });
      return { ...after, version: next, reachesAgents };
    });
    if (reachesAgents) for (const job of JOBS) this.jobs.enqueueAs(job, caller.orgId, { orgId: caller.orgId });
    return settings;
  }
}
