import type { Conversation } from '@slipway/contracts/conversations';
import type { ConversationEvent, LoggedEvent } from '@slipway/contracts/events';

/** Events for tests: short to write, whole in shape. */
export const CONVERSATION_ID = '01930000-0000-7000-8000-000000000000';

export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

type Part = Omit<ConversationEvent, 'id' | 'timestamp' | 'source'> & { [field: string]: unknown };

/**
 * A log of these events, numbered from `from`. An event's id is made of its seq, so an observation names its action by
 * `idOf(seq)`.
 */
export function logOf(parts: readonly Part[], from = 1): LoggedEvent[] {
  return parts.map((part, index) => {
    const seq = from + index;
    return {
      conversationId: CONVERSATION_ID,
      epoch: 1,
      seq,
      event: {
        id: idOf(seq),
        timestamp: new Date(1_700_000_000_000 + seq * 1_000).toISOString(),
        source: 'agent',
        ...part,
      } as ConversationEvent,
    };
  });
}

export const message = (role: 'user' | 'assistant', text: string, more: object = {}): Part => ({
  kind: 'MessageEvent',
  llm_message: { role, content: [{ type: 'text', text }] },
  ...more,
});
export const update = (key: string, value: unknown): Part => ({ kind: 'ConversationStateUpdateEvent', key, value });
export const startStep = (status: string, state = 'done', attempt = 1, more: object = {}): Part =>
  update('start_task', { attempt, status, state, startedAt: '2026-01-01T00:00:00.000Z', ...more });
export const action = (call: string, body: { kind: string; [field: string]: unknown }, more: object = {}): Part => ({
  kind: 'ActionEvent',
  thought: [],
  action: body,
  tool_name: 'tool',
  tool_call_id: call,
  tool_call: { id: call, name: 'tool', arguments: '{}' },
  llm_response_id: `r-${call}`,
  security_risk: 'LOW',
  ...more,
});
export const terminal = (call: string, command: string): Part => action(call, { kind: 'TerminalAction', command });
export const view = (call: string, path: string): Part =>
  action(call, { kind: 'FileEditorAction', command: 'view', path });
export const edit = (call: string, path: string): Part =>
  action(call, { kind: 'FileEditorAction', command: 'str_replace', path, old_str: 'a', new_str: 'b' });
export const answer = (actionSeq: number, call: string, body: { kind: string; [field: string]: unknown }): Part => ({
  kind: 'ObservationEvent',
  action_id: idOf(actionSeq),
  tool_name: 'tool',
  tool_call_id: call,
  observation: { content: [{ type: 'text', text: 'out' }], is_error: false, ...body },
});
export const exit = (actionSeq: number, call: string, code: number): Part =>
  answer(actionSeq, call, { kind: 'TerminalObservation', exit_code: code });

export function snapshotOf(head: number, more: Partial<Conversation> = {}): Conversation {
  return {
    id: CONVERSATION_ID,
    orgId: 'org_1',
    title: 'Task',
    status: 'starting',
    executionStatus: 'idle',
    sandboxStatus: 'STARTING',
    repository: null,
    branch: null,
    model: 'slipway-demo',
    createdBy: { id: 'usr_1', label: 'Someone' },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    start: { status: 'WORKING', steps: [] },
    head,
    queued: [],
    costUsd: '0',
    promptTokens: 0,
    completionTokens: 0,
    confirmation: 'never',
    runtime: { status: 'READY' },
    agentType: 'default',
    maxIterations: null,
    maxBudgetUsd: null,
    forkedFrom: null,
    pinned: false,
    tags: [],
    archivedAt: null,
    deletedAt: null,
    readSeq: 0,
    readAt: null,
    ...more,
  };
}
