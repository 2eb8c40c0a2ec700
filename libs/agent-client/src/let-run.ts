import type { AgentClient } from './agent-client.js';
import { AgentError } from './agent-error.js';
import type { CallOptions } from './calls.js';

/** `waits`: for a user's answer to what the agent asks; a run accepts nothing. */
export type RunOutcome = 'runs' | 'waits';

/** Lets the agent go on; no-op when it runs already. @throws as `AgentClient`. */
export async function letRun(agent: AgentClient, id: string, options?: CallOptions): Promise<RunOutcome> {
  try {
    await agent.call('run', { id }, options);
    return 'runs';
  } catch (error) {
    const code = error instanceof AgentError ? error.code : null;
    if (code === 'conversation.busy') return 'runs';
    if (code === 'conversation.awaits-confirmation' || code === 'conversation.four-eyes') return 'waits';
    throw error;
  }
}
