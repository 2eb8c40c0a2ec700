import { Inject, Injectable } from '@nestjs/common';
import { applySettings } from '@slipway/agent-client';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import type { AgentSettings, ApplySettings, RefusedSetting, RunLimits } from '@slipway/contracts/agent';
import { markSettingsAcknowledged, readAgentSettings, type StoredSettings } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import type { SandboxRow } from '../conversations.queries.js';
import { reachSandbox } from '../reach-sandbox.js';

/** Settings that a user wants to change; `undefined` stays. */
export interface WantedSettings {
  readonly agentType?: AgentSettings['agentType'] | undefined;
  readonly maxIterations?: RunLimits['maxIterations'] | undefined;
  readonly maxBudgetUsd?: RunLimits['maxBudgetUsd'] | undefined;
}

/**
 * The fast path of a change of settings to a running sandbox. The worker's `SettingsSync` sends what this does not
 * bring there, and every model.
 */
@Injectable()
export class AgentSettingsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly keys: SandboxKeys,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Before the commit: would the agent take the change? No-op without a sandbox.
   * @throws SlipwayError `conversation.busy`, `request.invalid`, in the agent's words; `sandbox.unreachable` when it
   * does not answer; `resource.not-found`.
   */
  async check(orgId: string, id: string, row: SandboxRow, wanted: WantedSettings): Promise<void> {
    const sandbox = reachSandbox(this.keys, id, row, ['run']);
    if (sandbox === null) return;
    const stored = await this.read(orgId, id);
    if (stored === null) throw notFound();
    const { refused } = await applySettings(sandbox, id, {
      ...requestOf(stored, row),
      settings: withWanted(stored.settings, wanted),
      dryRun: true,
    });
    // What the agent refuses of the settings of before does not keep the user from changing others.
    const refusal = refused.find(({ setting }) => wanted[setting] !== undefined);
    if (refusal !== undefined) throw errorOf(refusal);
  }

  /**
   * After the commit: the newest settings of the conversation, whoever changed them last. @param chosen whether a user
   * has just chosen the confirmation mode.
   * @returns false: the agent has not acknowledged them. The change holds, and the worker retries.
   */
  async apply(orgId: string, id: string, row: SandboxRow, chosen: boolean): Promise<boolean> {
    try {
      const sandbox = reachSandbox(this.keys, id, row, ['run']);
      const stored = sandbox === null ? null : await this.read(orgId, id);
      if (sandbox === null || stored === null) return false;
      const { version, refused } = await applySettings(sandbox, id, { ...requestOf(stored, row), chosen });
      if (version !== stored.version || refused.length > 0) return false;
      await inOrg(this.pool, orgId, (client) =>
        markSettingsAcknowledged(client, orgId, id, { version, epoch: row.epoch }),
      );
      return true;
    } catch (error) {
      this.logger.warn({ err: error, conversation_id: id }, 'settings not acknowledged by agent, worker will retry');
      return false;
    }
  }

  private read(orgId: string, id: string): Promise<StoredSettings | null> {
    return inOrg(this.pool, orgId, (client) => readAgentSettings(client, orgId, id));
  }
}

function requestOf({ settings, version, earlierVersions }: StoredSettings, { epoch }: SandboxRow): ApplySettings {
  return { settings, version, epoch, chosen: false, dryRun: false, earlierVersions };
}

function withWanted(settings: StoredSettings['settings'], wanted: WantedSettings): StoredSettings['settings'] {
  const {
    maxIterations = settings.limits.maxIterations,
    maxBudgetUsd = settings.limits.maxBudgetUsd,
    agentType = settings.agentType,
  } = wanted;
  return { ...settings, agentType, limits: { maxIterations, maxBudgetUsd } };
}

function errorOf({ setting, code, detail }: RefusedSetting): SlipwayError {
  if (code === 'conversation.busy') return new SlipwayError(code, detail);
  return new SlipwayError(code, `${setting}: ${detail}`, { fields: [{ path: setting, message: detail }] });
}
