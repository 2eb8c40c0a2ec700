import { type AgentClient, applySettings } from '@slipway/agent-client';
import type { ApplySettings } from '@slipway/contracts/agent';
import { readAgentSettings, type StoredSettings } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { ConversationModels } from '../start/conversation-models.js';

type Model = ApplySettings['settings']['model'];

/**
 * Brings an agent that has the conversation its newest settings, until it has acknowledged their version
 * (`checkpoint.settingsVersion`). What the agent refuses as it is now is sent again before its next message; everything
 * else holds, and messages do not wait for it.
 */
export class SettingsSync {
  constructor(
    private readonly pool: SqlPool,
    private readonly models: ConversationModels,
  ) {}

  /**
   * No-op when the newest version is acknowledged; repeatable. Call it before anything else that the agent gets, so
   * that the newest confirmation policy covers it.
   * @returns what is left: another model that needs a key first. A tightened policy must not wait for the gateway.
   * @throws SlipwayError `sandbox.unreachable`: the agent may have them later; `ingest.stale-epoch`: the sandbox no
   * longer has the conversation.
   */
  async apply(held: HeldConversation, agent: AgentClient, signal: AbortSignal): Promise<() => Promise<void>> {
    const stored = await inOrg(this.pool, held.orgId, (client) => readAgentSettings(client, held.orgId, held.id));
    if (stored === null) throw new Error('a conversation that is held is not there');
    const { model = stored.model, modelsTried = [], settingsVersion } = held.row.checkpoint;
    if (settingsVersion === stored.version) return async () => {};
    const mayHave = model === stored.model && modelsTried.length === 0 ? null : [...new Set([model, ...modelsTried])];
    if (mayHave !== null && !modelsTried.includes(stored.model))
      await this.noteTried(held, [...modelsTried, stored.model]);
    const keyless = mayHave === null ? undefined : this.models.withSameKey(stored.model, mayHave);
    const isRefused = await this.send(held, agent, { stored, model: keyless }, signal);
    if (mayHave === null || keyless !== undefined) {
      await this.acknowledge(held, stored, isRefused, null);
      return async () => {};
    }
    return () => this.giveKeyedModel(held, agent, { stored, isRefused }, signal);
  }

  /**
   * What can never succeed is an error event in the log, and the agent keeps its model. @throws SlipwayError as
   * `apply`, `service.unavailable`, `secret.unreadable`.
   */
  private async giveKeyedModel(
    held: HeldConversation,
    agent: AgentClient,
    { stored, isRefused }: { readonly stored: StoredSettings; readonly isRefused: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const row: ConversationRow = { ...held.row, model: stored.model };
    try {
      const model = await this.models.switched(row, signal);
      await this.acknowledge(held, stored, await this.send(held, agent, { stored, model }, signal), null);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'model.profile-missing') throw error;
      await this.acknowledge(held, stored, isRefused, error);
    }
  }

  /** @returns whether the agent refuses some of them. */
  private async send(
    { id, row }: HeldConversation,
    agent: AgentClient,
    { stored, model }: { readonly stored: StoredSettings; readonly model: Model },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { settings, version, earlierVersions } = stored;
    const document = { ...settings, ...(model === undefined ? {} : { model }) };
    const request = { settings: document, version, epoch: row.epoch, chosen: false, dryRun: false, earlierVersions };
    const { refused } = await applySettings(agent, id, request, { signal });
    return refused.length > 0;
  }

  /**
   * Before the model is sent: whether a request without an answer has arrived is unknown, so the model is sent again,
   * also when it becomes the one of before.
   */
  private noteTried(held: HeldConversation, modelsTried: readonly string[]): Promise<void> {
    return held.write((current) => ({ events: [], columns: { checkpoint: { ...current.checkpoint, modelsTried } } }));
  }

  private acknowledge(
    held: HeldConversation,
    { model, version }: StoredSettings,
    isRefused: boolean,
    refusal: SlipwayError | null,
  ): Promise<void> {
    return held.write(({ checkpoint: { modelsTried: _tried, settingsRefused: _refused, ...checkpoint } }) => ({
      events:
        refusal === null
          ? []
          : [{ kind: 'error', code: refusal.code, detail: `The agent keeps the model that it has. ${refusal.detail}` }],
      columns: {
        checkpoint: {
          ...checkpoint,
          model,
          ...(isRefused ? { settingsRefused: version } : { settingsVersion: version }),
        },
      },
    }));
  }
}
