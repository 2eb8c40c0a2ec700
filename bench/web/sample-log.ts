import type { StartStep } from '@slipway/contracts/conversations';
import type { ConversationEvent, LoggedEvent } from '@slipway/contracts/events';

/**
 * A made-up log in the real shapes: what an agent does all day, with `count` events. The same arguments give the same
 * log.
 */
export function sampleLog(conversationId: string, count: number, began: number): LoggedEvent[] {
  const log: LoggedEvent[] = [];
  const line = new LogWriter(conversationId, began, log);
  line.start();
  line.message(
    'user',
    'Find out why the importer loses rows when a file ends without a newline, fix it, and add a test.',
  );
  while (log.length < count) line.turn();
  return log.slice(0, count);
}

/** Writes one event after the other. Ids count up, so they are stable. */
export class LogWriter {
  private turns = 0;
  private readonly conversationId: string;
  private at: number;
  private readonly log: LoggedEvent[];

  constructor(conversationId: string, began: number, log: LoggedEvent[]) {
    this.conversationId = conversationId;
    this.at = began;
    this.log = log;
  }

  add(event: Record<string, unknown>, elapsedMs = 400): LoggedEvent {
    this.at += elapsedMs;
    const seq = this.log.length + 1;
    const whole = {
      id: idOf(seq),
      timestamp: new Date(this.at).toISOString(),
      source: 'agent',
      ...event,
    } as ConversationEvent;
    const logged: LoggedEvent = { conversationId: this.conversationId, epoch: 1, seq, event: whole };
    this.log.push(logged);
    return logged;
  }

  start(): void {
    const steps: [StartStep['status'], number, string?][] = [
      ['WORKING', 21],
      ['WAITING_FOR_SANDBOX', 212, 'A warm sandbox was ready'],
      ['PREPARING_REPOSITORY', 1_840, 'Cloned https://git.example/importer at 4f1c2ab'],
      ['RUNNING_SETUP_SCRIPT', 6_410, '.slipway/setup.sh'],
      ['SETTING_UP_GIT_HOOKS', 3],
      ['SETTING_UP_SKILLS', 12, 'AGENTS.md'],
      ['STARTING_CONVERSATION', 140],
    ];
    for (const [status, elapsedMs, detail] of steps) {
      const state = status === 'SETTING_UP_GIT_HOOKS' ? 'skipped' : 'done';
      this.add(
        {
          source: 'environment',
          kind: 'ConversationStateUpdateEvent',
          key: 'start_task',
          value: {
            attempt: 1,
            status,
            state,
            startedAt: new Date(this.at).toISOString(),
            elapsedMs,
            ...(detail ? { detail } : {}),
          },
        },
        elapsedMs,
      );
    }
    this.add({
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'start_task',
      value: { attempt: 1, status: 'READY', state: 'done', startedAt: new Date(this.at).toISOString(), elapsedMs: 0 },
    });
    this.add({
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'execution_status',
      value: 'running',
    });
  }

  message(role: 'user' | 'assistant', text: string): LoggedEvent {
    return this.add({
      source: role === 'user' ? 'user' : 'agent',
      kind: 'MessageEvent',
      llm_message: { role, content: [{ type: 'text', text }] },
      ...(role === 'user' ? { sender: 'Demo Person' } : {}),
    });
  }

  action(tool: string, action: Record<string, unknown>, thought = ''): LoggedEvent {
    const call = `call_${this.log.length}`;
    return this.add({
      kind: 'ActionEvent',
      thought: thought === '' ? [] : [{ type: 'text', text: thought }],
      action,
      tool_name: tool,
      tool_call_id: call,
      tool_call: { id: call, name: tool, arguments: '{}' },
      llm_response_id: `resp_${this.log.length}`,
      security_risk: 'LOW',
    });
  }

  answer(to: LoggedEvent, observation: Record<string, unknown>, elapsedMs = 700): LoggedEvent {
    const action = to.event as { id: string; tool_name: string; tool_call_id: string };
    return this.add(
      {
        source: 'environment',
        kind: 'ObservationEvent',
        action_id: action.id,
        tool_name: action.tool_name,
        tool_call_id: action.tool_call_id,
        observation,
      },
      elapsedMs,
    );
  }

  terminal(command: string, exitCode: number, output: string): void {
    const call = this.action('terminal', { kind: 'TerminalAction', command, is_input: false, reset: false });
    this.answer(
      call,
      {
        kind: 'TerminalObservation',
        content: [{ type: 'text', text: output }],
        is_error: false,
        command,
        exit_code: exitCode,
        timeout: false,
        metadata: {},
        full_output_save_dir: null,
      },
      1_300,
    );
  }

  edit(path: string, before: string, after: string): void {
    const call = this.action('file_editor', {
      kind: 'FileEditorAction',
      command: 'str_replace',
      path,
      old_str: before,
      new_str: after,
    });
    this.answer(call, {
      kind: 'FileEditorObservation',
      command: 'str_replace',
      path,
      prev_exist: true,
      content: [{ type: 'text', text: 'edited' }],
      is_error: false,
      old_content: before,
      new_content: after,
    });
  }

  view(path: string): void {
    const call = this.action('file_editor', { kind: 'FileEditorAction', command: 'view', path });
    this.answer(call, {
      kind: 'FileEditorObservation',
      command: 'view',
      path,
      prev_exist: true,
      content: [{ type: 'text', text: CODE }],
      is_error: false,
      old_content: null,
      new_content: null,
    });
  }

  stats(): void {
    const turn = this.turns;
    this.add({
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'stats',
      value: {
        accumulated_cost: turn * 0.0123,
        prompt_tokens: turn * 4_210,
        completion_tokens: turn * 312,
        model: 'sample',
      },
    });
  }

  /**
   * About 30 events: a plan, reading, edits, commands that pass and fail, and a message with a code block of 50 lines.
   */
  turn(): void {
    this.turns += 1;
    const turn = this.turns;
    this.action('task_tracker', {
      kind: 'TaskTrackerAction',
      command: 'plan',
      task_list: [
        { title: 'Reproduce it', notes: '', status: 'done' },
        { title: 'Fix the reader', notes: 'last line only', status: 'in_progress' },
        { title: 'Add a test', notes: '', status: 'todo' },
      ],
    });
    for (let index = 0; index < 3; index += 1) this.view(`/workspace/importer/src/reader-${turn}-${index}.ts`);
    this.terminal(
      'npm test -- --silent reader',
      1,
      `${ESC}[31mFAIL${ESC}[0m src/reader.test.ts\n  expected 3 rows, received 2\n${'    at reader.ts:41\n'.repeat(6)}`,
    );
    this.edit(
      `/workspace/importer/src/reader-${turn}-0.ts`,
      '  return lines.slice(0, -1);\n',
      "  return text.endsWith('\\n') ? lines.slice(0, -1) : lines;\n",
    );
    this.edit(`/workspace/importer/src/reader-${turn}-1.ts`, 'const rows = [];\n', 'const rows: Row[] = [];\n');
    this.terminal('npm test -- --silent reader', 0, 'PASS src/reader.test.ts\n  3 passed\n');
    this.action('think', {
      kind: 'ThinkAction',
      thought: 'The last line was dropped whenever the file did not end with a newline.',
    });
    this.message(
      'assistant',
      `The reader dropped the **last line** when the file has no newline at its end (turn ${turn}).\n\n\`\`\`ts\n${CODE}\`\`\`\n\n- fixed in \`reader.ts\`\n- a test that fails without it`,
    );
    this.terminal(
      `git diff --stat # ${turn}`,
      0,
      ' src/reader.ts | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n',
    );
    this.stats();
  }
}

const ESC = '\u001b';
const CODE = Array.from(
  { length: 50 },
  (_, index) =>
    `export function step${index}(rows: readonly Row[]): Row[] { return rows.filter((row) => row.id !== ${index}); }`,
)
  .join('\n')
  .concat('\n');

function idOf(seq: number): string {
  return `00000000-0000-4000-8000-${seq.toString(16).padStart(12, '0')}`;
}
