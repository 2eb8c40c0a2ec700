import { AgentAction, FileEditorAction, FinishAction, TaskTrackerAction, TerminalAction, ThinkAction } from '@slipway/contracts';
import type { ToolCall, ToolDefinition } from '@slipway/llm';

/** What every tool takes besides its own parameters. */
const COMMON = {
  security_risk: {
    type: 'string',
    enum: ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'],
    description: 'How much harm this call could do. LOW only reads; MEDIUM changes the project; HIGH changes the system or sends data out.',
  },
  summary: { type: 'string', description: 'What this call does, in at most ten words.' },
};

function tool(name: string, description: string, properties: Record<string, unknown>, required: readonly string[]): ToolDefinition {
  return { name, description, parameters: { type: 'object', properties: { ...properties, ...COMMON }, required } };
}

export const TOOLS: readonly ToolDefinition[] = [
  tool(
    'terminal',
    [
      'Runs a command in a shell that stays open between calls: directory, variables and background jobs are kept.',
      'A command that is quiet for 30 seconds (or longer than `timeout`) answers with exit code -1 and goes on running. Then send an empty `command` to read more,',
      'text with `is_input: true` for its standard input, or the keys `C-c`, `C-d`, `C-z` with `is_input: true`. Start servers in the background with output to a file.',
      'Long output is cut in the middle; the answer names the file that holds all of it.',
    ].join('\n'),
    {
      command: { type: 'string', description: 'The command, input or key. Empty: read more output of the running command.' },
      is_input: { type: 'boolean', description: 'Send `command` to the running program instead of starting one.' },
      timeout: { type: 'number', description: 'Seconds to wait for the end of the command. At most 3600.' },
      reset: { type: 'boolean', description: 'Start a new shell first; everything running in the old one ends.' },
    },
    ['command'],
  ),
  tool(
    'file_editor',
    [
      'Views and edits text files, by absolute path.',
      '`view` shows a file with line numbers (or the lines of `view_range`), or lists a directory two levels deep. `create` writes a new file with `file_text`.',
      '`str_replace` replaces `old_str`, which must occur exactly once in the file, with `new_str`. `insert` puts `new_str` after line `insert_line` (0: before the first).',
      '`undo_edit` takes back the last edit of the file.',
    ].join('\n'),
    {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'undo_edit'] },
      path: { type: 'string', description: 'Absolute path.' },
      file_text: { type: 'string' },
      old_str: { type: 'string', description: 'Exact text, with enough lines around it to be unique.' },
      new_str: { type: 'string' },
      insert_line: { type: 'integer', minimum: 0 },
      view_range: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2, description: 'First and last line, from 1; -1 is the end.' },
    },
    ['command', 'path'],
  ),
  tool(
    'task_tracker',
    'Keeps the plan of a task of several steps, where the user sees it. `plan` replaces the whole list; `view` shows it. Have one item in progress at a time; set it to done when it is.',
    {
      command: { type: 'string', enum: ['view', 'plan'] },
      task_list: {
        type: 'array',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, notes: { type: 'string' }, status: { type: 'string', enum: ['todo', 'in_progress', 'done'] } },
          required: ['title'],
        },
      },
    },
    ['command'],
  ),
  tool('think', 'Writes a thought down before a hard decision. Nothing is run and nothing changes.', { thought: { type: 'string' } }, ['thought']),
  tool(
    'finish',
    'Ends the work and hands it over. Call it when the task is done, or when it cannot be done without the user.',
    { message: { type: 'string', description: 'For the user: what was done, how it was checked, what is left.' } },
    ['message'],
  ),
];

const ACTIONS = {
  terminal: { kind: 'TerminalAction', schema: TerminalAction.strip() },
  file_editor: { kind: 'FileEditorAction', schema: FileEditorAction.strip() },
  task_tracker: { kind: 'TaskTrackerAction', schema: TaskTrackerAction.strip() },
  think: { kind: 'ThinkAction', schema: ThinkAction.strip() },
  finish: { kind: 'FinishAction', schema: FinishAction.strip() },
} as const;

/** Names that models use for our tools. */
const ALIASES: Readonly<Record<string, keyof typeof ACTIONS>> = { execute_bash: 'terminal', bash: 'terminal', str_replace_editor: 'file_editor' };

const RISKS = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] as const;
export type SecurityRisk = (typeof RISKS)[number];

export type ParsedCall =
  | { readonly ok: true; readonly action: AgentAction; readonly risk: SecurityRisk; readonly summary: string | undefined }
  | { readonly ok: false; readonly error: string };

/** The action that a tool call asks for, or a sentence for the model that says what is wrong with the call. */
export function parseToolCall(call: ToolCall): ParsedCall {
  const name = ALIASES[call.name] ?? call.name;
  if (!isToolName(name)) return { ok: false, error: `There is no tool "${call.name}". The tools are: ${Object.keys(ACTIONS).join(', ')}.` };
  let args: unknown;
  try {
    args = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
  } catch (error) {
    return {
      ok: false,
      error: `The arguments of ${call.name} are not valid JSON (${(error as Error).message}). They began with: ${call.arguments.slice(0, 200)}`,
    };
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { ok: false, error: `The arguments of ${call.name} must be a JSON object.` };
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const { kind, schema } = ACTIONS[name];
  const parsed = schema.safeParse({ ...given, kind });
  if (!parsed.success) {
    return {
      ok: false,
      error: `The arguments of ${call.name} are not valid: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`).join('; ')}`,
    };
  }
  const { security_risk: risk, summary } = given as { security_risk?: unknown; summary?: unknown };
  return {
    ok: true,
    action: parsed.data,
    risk: RISKS.find((known) => known === risk) ?? 'UNKNOWN',
    summary: typeof summary === 'string' && summary !== '' ? summary.slice(0, 300) : undefined,
  };
}

function isToolName(name: string): name is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, name);
}
