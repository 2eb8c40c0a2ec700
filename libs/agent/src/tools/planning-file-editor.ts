import { basename } from 'node:path/posix';
import {
  FileEditorAction,
  KEEPS_DOWNLOADS,
  PlanningFileEditorAction,
  type SandboxAction,
} from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { LOOKING_IN_BROWSER } from './browser.js';
import { FILE_EDITOR } from './file-editor.js';
import { define } from './tool.js';

/** The one file that a planning agent writes. */
const PLAN_FILE = 'PLAN.md';

/** Reads every file, and writes only the plan. */
export const PLANNING_FILE_EDITOR: Tool = {
  definition: define(
    'planning_file_editor',
    `Views text files, by absolute path, and edits ${PLAN_FILE} alone: all that changes something is refused for other files. Otherwise as file_editor:\n${FILE_EDITOR.definition.description}`,
    (FILE_EDITOR.definition.parameters as { properties: Record<string, unknown> }).properties,
    ['command', 'path'],
  ),
  kind: 'PlanningFileEditorAction',
  schema: PlanningFileEditorAction.strip(),
  aliases: ['file_editor'],
  readOnly: (action) => action.kind === 'PlanningFileEditorAction' && action.command === 'view',
  async observe(action, { ports, signal }) {
    const edit = action as PlanningFileEditorAction;
    const about = { kind: 'PlanningFileEditorObservation', command: edit.command, path: edit.path };
    if (edit.command !== 'view' && basename(edit.path) !== PLAN_FILE) {
      const text = `You are planning: only ${PLAN_FILE} may be changed, and ${edit.path} is another file. Write what should be changed there into the plan.`;
      return {
        ...about,
        content: [{ type: 'text', text }],
        is_error: true,
        prev_exist: false,
        old_content: null,
        new_content: null,
      };
    }
    const asEdit = FileEditorAction.parse({ ...edit, kind: 'FileEditorAction' });
    return { ...(await ports.tools.execute(asEdit, { signal, traceparent: ports.traceparent() })), ...about };
  },
};

const KEPT = new Set(['task_tracker', 'think', 'finish', 'task', 'delegate', 'invoke_skill']);

/**
 * What a planning agent has of these tools: those that change nothing, a way to write its plan, and the browser's
 * read-only actions. Opening a page counts as reading: documentation needs it, and a GET changes nothing by HTTP's
 * rules; downloads are refused.
 */
export function planningTools(tools: readonly Tool[]): Tool[] {
  const kept = tools.filter((tool) => tool.readOnly === true || KEPT.has(tool.definition.name));
  return [
    PLANNING_FILE_EDITOR,
    ...kept,
    ...tools.filter(({ kind }) => LOOKING_IN_BROWSER.has(kind)).map(withoutDownloads),
  ];
}

function withoutDownloads(tool: Tool): Tool {
  return {
    ...tool,
    observe: (action, { ports, signal }) =>
      ports.tools.execute(
        { ...(action as SandboxAction), [KEEPS_DOWNLOADS]: false },
        { signal, traceparent: ports.traceparent() },
      ),
  };
}

/** Said to a planning agent beside its system prompt. */
export const PLANNING = `You are planning, not doing: look at the project, ask what is unclear, and write a plan into ${PLAN_FILE} in the project's directory. Change nothing else.
The plan says what is to be done in which order, in which files, how each step is checked, and what is open. Somebody else carries it out with nothing but the plan. Finish with a short summary of it.`;
