import type { AgentAction, ConversationEvent, EventOf } from '@slipway/contracts';

type Observation = EventOf<'ObservationEvent'>['observation'];
type OwnAction = Exclude<AgentAction, { kind: 'TerminalAction' | 'FileEditorAction' }>;

/** True for the actions that the agent answers itself; the others run in the sandbox's tool process. */
export function isOwnAction(action: AgentAction): action is OwnAction {
  return action.kind !== 'TerminalAction' && action.kind !== 'FileEditorAction';
}

/** The answer to `think`, `finish` and `task_tracker`. The plan lives in the log: the last observation that holds one is the plan. */
export function observeOwnAction(action: OwnAction, events: readonly ConversationEvent[]): Observation {
  switch (action.kind) {
    case 'ThinkAction':
      return { kind: 'ThinkObservation', content: [{ type: 'text', text: 'Your thought has been written down.' }], is_error: false };
    case 'FinishAction':
      return { kind: 'FinishObservation', content: [{ type: 'text', text: action.message }], is_error: false };
    case 'TaskTrackerAction': {
      const tasks = action.command === 'plan' ? action.task_list : currentPlan(events);
      const lines = tasks.map((task, index) => `${index + 1}. [${task.status}] ${task.title}${task.notes === '' ? '' : `: ${task.notes}`}`);
      const text = tasks.length === 0 ? 'There is no plan.' : `${action.command === 'plan' ? 'The plan is now' : 'The plan'}:\n${lines.join('\n')}`;
      return { kind: 'TaskTrackerObservation', content: [{ type: 'text', text }], is_error: false, command: action.command, task_list: tasks };
    }
  }
}

type Plan = Extract<AgentAction, { kind: 'TaskTrackerAction' }>['task_list'];

function currentPlan(events: readonly ConversationEvent[]): Plan {
  const last = events.findLast((event) => event.kind === 'ObservationEvent' && event.observation.kind === 'TaskTrackerObservation');
  return last?.kind === 'ObservationEvent' && Array.isArray(last.observation['task_list']) ? (last.observation['task_list'] as Plan) : [];
}
