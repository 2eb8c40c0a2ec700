import { DelegateAction, TaskAction } from '@slipway/contracts/actions';
import { type EventOf } from '@slipway/contracts/events';
import { newTaskId } from './sub-agent-log.js';

/**
 * Said of an action whose sub-agents were stopped with it: what they know stays, and how they go on. Empty for every
 * other action.
 */
export function leftBehind({ id, action }: EventOf<'ActionEvent'>): string {
  if (action.kind === 'TaskAction') {
    const task = TaskAction.safeParse(action);
    return ` Its sub-agent was stopped with it and keeps what it knows: give task with resume "${(task.success && task.data.resume) || newTaskId(id)}" to let it go on.`;
  }
  const delegated = action.kind === 'DelegateAction' ? DelegateAction.safeParse(action) : null;
  if (delegated?.success !== true || delegated.data.command !== 'delegate') return '';
  const names = Object.keys(delegated.data.tasks ?? {}).join(', ');
  return ` Its sub-agents (${names}) were stopped with it and keep what they know: delegate to the same ids to let them go on.`;
}
