import type {
  AppliedSettings,
  ApplySettings,
  EarlierConfirmation,
  EarlierRunSettings,
  RefusedSetting,
} from '@slipway/contracts/agent';
import type { AgentClient } from './agent-client.js';
import { AgentError, isMissing } from './agent-error.js';
import type { CallOptions } from './calls.js';

/** One request to an agent-server of the release before; `setting` names what its refusal is about. */
interface EarlierRequest {
  readonly setting: RefusedSetting['setting'] | null;
  send(): Promise<unknown>;
}

/**
 * The same settings for an agent-server of the release before, in the order in which they are sent: the confirmation
 * policy holds first.
 */
function earlierRequests(
  agent: AgentClient,
  id: string,
  request: ApplySettings,
  options?: CallOptions,
): EarlierRequest[] {
  const { settings, epoch, chosen, dryRun, earlierVersions } = request;
  const { model, agentType, limits, confirmation } = settings;
  const ordered = earlierVersions === undefined ? { epoch } : { version: earlierVersions.runSettings, epoch };
  const run = (setting: EarlierRequest['setting'], values: EarlierRunSettings): EarlierRequest => ({
    setting,
    send: () =>
      dryRun
        ? agent.call('checkEarlierRunSettings', { id, body: values }, options)
        : agent.call('earlierRunSettings', { id, body: { ...values, ...ordered } }, options),
  });
  const runSettings = [
    run('maxIterations', { max_iterations: limits.maxIterations }),
    run('maxBudgetUsd', { max_budget_per_task: limits.maxBudgetUsd }),
    run('agentType', { agent_type: agentType }),
  ];
  if (dryRun) return runSettings;
  const { policy, analyzer, organization } = confirmation;
  const asked: EarlierConfirmation = {
    policy,
    analyzer,
    brake: organization,
    version: earlierVersions?.confirmation ?? 0,
    epoch,
    chosen,
  };
  return [
    { setting: null, send: () => agent.call('earlierConfirmation', { id, body: asked }, options) },
    ...runSettings,
    ...(model === undefined
      ? []
      : [{ setting: null, send: () => agent.call('switchLlm', { id, body: { llm: model } }, options) }]),
  ];
}

/** Applies settings through the routes of the release before. Goes in 0.2.0. @throws as `applySettings`. */
export async function applyEarlier(
  agent: AgentClient,
  id: string,
  request: ApplySettings,
  options?: CallOptions,
): Promise<AppliedSettings> {
  const { version, dryRun } = request;
  const refused: RefusedSetting[] = [];
  try {
    for (const { setting, send } of earlierRequests(agent, id, request, options)) {
      const refusal = await send().then(
        () => null,
        (error: unknown) => {
          // One of a release before settings could be checked refuses nothing.
          if (dryRun && isMissing(error)) return null;
          return setting === null ? Promise.reject(error) : refusedSetting(setting, error);
        },
      );
      if (refusal !== null) refused.push(refusal);
    }
    return { version, refused };
  } catch (error) {
    if (!isMissing(error)) throw error;
    // Rejects as well where it is the conversation that is missing. One that is there is of a release before settings
    // could change: they hold from its next start.
    await agent.text('conversation', { id }, { maxBytes: MAX_CONVERSATION_BYTES, ...options });
    return {
      version,
      refused: [
        { setting: 'agentType', code: 'request.invalid', detail: 'The agent is of a release before this setting.' },
      ],
    };
  }
}

/** A conversation with its statistics, plugins and tools. Bytes. */
const MAX_CONVERSATION_BYTES = 2 * 1024 * 1024;

/** @throws what is no refusal of the setting. */
function refusedSetting(setting: RefusedSetting['setting'], error: unknown): RefusedSetting {
  if (!(error instanceof AgentError) || (error.code !== 'conversation.busy' && error.code !== 'request.invalid'))
    throw error;
  return { setting, code: error.code, detail: error.more.fields?.[0]?.message ?? error.detail };
}
