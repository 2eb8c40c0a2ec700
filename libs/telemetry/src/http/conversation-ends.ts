import { Counter, type Registry } from 'prom-client';

/**
 * How a conversation's run, or its start, ended. `stopped` is by a user. `start-refused` is by what was asked for: a
 * repository that is not there, a setup script that fails. A paused one has not ended.
 */
export type ConversationEnd = 'finished' | 'error' | 'stuck' | 'stopped' | 'start-failed' | 'start-refused';

/** `conversations_ended_total` of this process. */
export function conversationEnds(
  registry: Registry,
  possible: readonly ConversationEnd[],
): (result: ConversationEnd, trigger: string) => void {
  const ended = new Counter({
    name: 'conversations_ended_total',
    help: 'Ended runs of agents, and starts that failed on our side (start-failed) or by the request (start-refused); trigger is what created the conversation: user, service-account or a provider',
    labelNames: ['result', 'trigger'],
    registers: [registry],
  });
  for (const result of possible) ended.inc({ result, trigger: 'user' }, 0);
  return (result, trigger) => ended.inc({ result, trigger });
}
