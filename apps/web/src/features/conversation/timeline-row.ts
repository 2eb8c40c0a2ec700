import type { AgentAction } from '@slipway/contracts/actions';
import type { McpServerState } from '@slipway/contracts/agent';
import type { StartStep } from '@slipway/contracts/conversations';
import type { ConversationEvent, EventOf, LoggedEvent, MessageAttachment } from '@slipway/contracts/events';
import type { EgressRequest } from '@slipway/contracts/sandboxes';

export type TaskItem = Extract<AgentAction, { kind: 'TaskTrackerAction' }>['task_list'][number];

/** An event of a sub-agent's own log, with the task that it is of: several may work for one call beside each other. */
export interface LoggedInside extends LoggedEvent {
  readonly taskId: string;
}

/** One tool call with what came of it. `observation` and `error` are both `null` while it runs. */
export interface Step {
  /** Id of the ActionEvent; of the answer itself while its action is above the loaded part. */
  readonly id: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** When a user approved it; absent for a call that was not asked about. Until then nothing of it had happened. */
  readonly approvedAt?: string;
  readonly action: EventOf<'ActionEvent'>['action'] | null;
  readonly summary: string | null;
  readonly observation: EventOf<'ObservationEvent'>['observation'] | null;
  readonly error: string | null;
  /** What a sub-agent did for it, in its own log. */
  readonly inside?: readonly LoggedInside[];
  /** The user stopped the run before an answer came. */
  readonly interrupted: boolean;
}

export type Row =
  | {
      readonly kind: 'start';
      readonly key: string;
      readonly seq: number;
      readonly attempt: number;
      readonly steps: readonly StartStep[];
    }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly seq: number;
      /** `slipway`: what the platform tells the agent by itself. */
      readonly author: 'user' | 'agent' | 'finish' | 'slipway';
      readonly sender: string | null;
      /** Id of the user behind `sender`; `null` where nobody vouched for it. */
      readonly senderId: string | null;
      readonly at: string;
      readonly text: string;
      /** That came with it; absent: none. */
      readonly files?: readonly MessageAttachment[];
    }
  /** Consecutive reads, and consecutive edits, are one row. */
  | {
      readonly kind: 'steps';
      readonly key: string;
      readonly seq: number;
      readonly fold: 'read' | 'edit' | null;
      readonly steps: readonly Step[];
    }
  | { readonly kind: 'thought'; readonly key: string; readonly seq: number; readonly text: string }
  | { readonly kind: 'tasks'; readonly key: string; readonly seq: number; readonly tasks: ReadonlyArray<TaskItem> }
  /** A hook of the repository refused something, or could not be run. */
  | {
      readonly kind: 'hook';
      readonly key: string;
      readonly seq: number;
      readonly type: string;
      readonly command: string;
      readonly text: string;
      readonly blocked: boolean;
    }
  /** MCP servers, when one of them is missing, or one that was missing has come. */
  | {
      readonly kind: 'servers';
      readonly key: string;
      readonly seq: number;
      readonly servers: readonly McpServerState[];
    }
  /** The agent's model sees `text` in place of so many events from here on. */
  | {
      readonly kind: 'summary';
      readonly key: string;
      readonly seq: number;
      readonly forgotten: number;
      readonly text: string;
    }
  /** Calls of the model failed so many times, one after the other, and were made again. */
  | {
      readonly kind: 'retry';
      readonly key: string;
      readonly seq: number;
      readonly failures: number;
      readonly detail: string;
    }
  /** The sandbox asked for a host, or what became of that, as the log says. */
  | {
      readonly kind: 'egress';
      readonly key: string;
      readonly seq: number;
      readonly at: string;
      readonly request: EgressRequest;
    }
  | {
      readonly kind: 'error';
      readonly key: string;
      readonly seq: number;
      readonly code: string;
      readonly detail: string;
    }
  /** So many events that are not loaded, from `seq` on. */
  | { readonly kind: 'gap'; readonly key: string; readonly seq: number; readonly events: number }
  | { readonly kind: 'note'; readonly key: string; readonly seq: number; readonly note: 'paused' | 'stopped' };
export type RowOf<K extends Row['kind']> = Extract<Row, { kind: K }>;

/** How long a call took, and how long it waited for a user before; `null` while that is not known. Milliseconds. */
export function timesOf({ startedAt, approvedAt, endedAt }: Step): {
  readonly worked: number | null;
  readonly waited: number | null;
} {
  if (startedAt === null) return { worked: null, waited: null };
  const began = approvedAt ?? startedAt;
  return {
    worked: endedAt === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(began)),
    waited: approvedAt === undefined ? null : Math.max(0, Date.parse(approvedAt) - Date.parse(startedAt)),
  };
}

export type StepState = 'running' | 'done' | 'failed' | 'interrupted' | 'rejected';

/** How the agent begins its answer to a call that was broken off. */
const INTERRUPTED = 'interrupted: ';

/** Before the reason of a call that a user or a hook did not let happen. */
export const REJECTED = 'rejected: ';

/** A terminal command that answered with -1 is still running in its shell; that is not a failure. */
export function stepState(step: Step): StepState {
  if (step.error?.startsWith(REJECTED)) return 'rejected';
  if (step.error !== null) return step.error.startsWith(INTERRUPTED) ? 'interrupted' : 'failed';
  if (step.observation !== null) return step.observation.is_error || exitCodeOf(step) > 0 ? 'failed' : 'done';
  return step.interrupted ? 'interrupted' : 'running';
}

/** Exit code of a terminal command, 0 where there is none. */
export function exitCodeOf(step: Step): number {
  const code = step.observation?.['exit_code'];
  return typeof code === 'number' ? code : 0;
}

/** The editor, and the planner's, which writes PLAN.md alone. */
export function isFileEditor(kind: string): boolean {
  return /^(?:Planning)?FileEditor/.test(kind);
}

/** Which consecutive calls are folded into one row. */
export function foldOf(step: Step): 'read' | 'edit' | null {
  const source = step.action ?? step.observation;
  if (source === null || !isFileEditor(source.kind)) return null;
  return source['command'] === 'view' ? 'read' : 'edit';
}

/**
 * A row that may take in its right neighbour does; else `null`. Joining is associative, so a log read in pages gives
 * the same rows as one read at once.
 */
export function joinRows(left: Row | undefined, right: Row): Row | null {
  if (left?.kind === 'steps' && right.kind === 'steps' && left.fold !== null && left.fold === right.fold)
    return { ...left, steps: [...left.steps, ...right.steps] };
  if (left?.kind === 'retry' && right.kind === 'retry') return { ...right, failures: left.failures + right.failures };
  // A pause that had to stop the step under way is a pause.
  if (left?.kind === 'note' && left.note === 'stopped' && right.kind === 'note') return right;
  return null;
}

export function textOf(content: ReadonlyArray<{ readonly type: string; readonly text?: unknown }>): string {
  const texts = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return texts.length === 1 ? (texts[0] ?? '') : texts.join('');
}

/** True when this answer may have changed files: the list of changes is then read again. */
export function touchesFiles(event: ConversationEvent): boolean {
  if (event.kind !== 'ObservationEvent') return false;
  if (
    ['TerminalObservation', 'ApplyPatchObservation', 'FileEditObservation', 'IPythonRunCellObservation'].includes(
      event.observation.kind,
    )
  )
    return true;
  const { kind, ...answer } = event.observation as { readonly kind: string; readonly command?: unknown };
  return isFileEditor(kind) && answer.command !== 'view';
}
