import type { AppliedSettings, ApplySettings } from '@slipway/contracts/agent';
import type { AgentClient } from './agent-client.js';
import { isMissing } from './agent-error.js';
import type { CallOptions } from './calls.js';
import { applyEarlier } from './earlier-settings.js';

/**
 * From the agent's next step on; a dry run changes nothing. Repeatable. Settings that the agent refuses are in the
 * answer.
 * @throws AgentError `ingest.stale-epoch`; `isMissing` when agent-server does not have the conversation.
 */
export async function applySettings(
  agent: AgentClient,
  id: string,
  request: ApplySettings,
  options?: CallOptions,
): Promise<AppliedSettings> {
  try {
    return await agent.call('applySettings', { id, body: request }, options);
  } catch (error) {
    // An agent-server of the release before does not know the route, nor does any know a conversation that it does not
    // have. Goes in 0.2.0.
    if (!isMissing(error)) throw error;
    return applyEarlier(agent, id, request, options);
  }
}
