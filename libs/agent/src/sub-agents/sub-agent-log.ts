import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { stampUpdate } from '../events.js';
import type { AgentLog, AgentPorts } from '../ports.js';
import { latestCall } from '../stats.js';

/**
 * The log of a sub-agent, kept in its parent's: each event is the value of a state update there. So it is on disk and
 * on screen like everything else, and nothing that reads the parent's log (its prompt, its status, what is unanswered)
 * mistakes it for the parent's own. The cost of its calls is added to the parent's as well.
 */
export class SubAgentLog implements AgentLog {
  readonly events: ConversationEvent[];

  constructor(
    private readonly parent: AgentPorts,
    private readonly task: { readonly task_id: string; readonly action_id: string; readonly subagent: string },
  ) {
    this.events = eventsOfTask(parent.log.events, task.task_id);
  }

  async append(events: readonly ConversationEvent[]): Promise<void> {
    await this.parent.log.append(this.wrap(events));
    this.events.push(...events);
  }

  async appendLast(events: readonly ConversationEvent[]): Promise<void> {
    await this.parent.log.appendLast(this.wrap(events));
    this.events.push(...events);
  }

  room(signal: AbortSignal): Promise<void> {
    return this.parent.log.room(signal);
  }

  private wrap(events: readonly ConversationEvent[]): ConversationEvent[] {
    const wrapped = events.map((event) =>
      stampUpdate(this.parent, { key: 'sub_agent', value: { ...this.task, event } }),
    );
    return events.some((event) => latestCall(event) !== null)
      ? [...wrapped, stampUpdate(this.parent, { key: 'stats', value: this.parent.stats.value })]
      : wrapped;
  }
}

/** The id of a task that begins with an action. */
export function newTaskId(actionId: string): string {
  return `task_${actionId.slice(0, 8)}`;
}

/** What a task has written so far; empty for one that never was. */
export function eventsOfTask(events: readonly ConversationEvent[], taskId: string): ConversationEvent[] {
  return events.flatMap((event) => {
    const value = stateValueOf(event, 'sub_agent');
    return value?.task_id === taskId ? [value.event as unknown as ConversationEvent] : [];
  });
}
