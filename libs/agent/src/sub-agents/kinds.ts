import type { AgentDefinition } from '@slipway/contracts/actions';
import type { Tool } from '../ports.js';
import { FILE_VIEWER, LOOKING_TOOLS } from '../tools/look.js';

/** A kind of sub-agent. */
export interface SubAgentKind {
  readonly name: string;
  readonly description: string;
  /** Names of its tools; `null`: all of its parent's. It never makes sub-agents itself, and can always finish. */
  readonly tools: readonly string[] | null;
  /** Its prompt besides the parent's; in place of it where `alone`. */
  readonly prompt: string;
  readonly alone: boolean;
  /** Steps of one task. */
  readonly maxIterations: number;
  /** It changes nothing: several may work at once. */
  readonly readOnly: boolean;
}

/** Steps of one task, unless its kind says otherwise. */
const MAX_ITERATIONS = 50;
export const DEFAULT_KIND = 'general-purpose';
/** Tools with a read-only variant for read-only agents. */
const EDITORS: ReadonlySet<string> = new Set(['FileEditorAction', 'PlanningFileEditorAction']);
const READING_TOOLS = LOOKING_TOOLS.map(({ definition }) => definition.name);

const OURS: readonly SubAgentKind[] = [
  {
    name: DEFAULT_KIND,
    description: 'Does a part of the task by itself, with all tools.',
    tools: null,
    prompt: '',
    alone: false,
    maxIterations: MAX_ITERATIONS,
    readOnly: false,
  },
  {
    name: 'explore',
    description:
      'Finds something out by searching, listing and reading, without changing anything. Several may work at once.',
    tools: READING_TOOLS,
    prompt: 'You only read and search; you change nothing.',
    alone: false,
    maxIterations: MAX_ITERATIONS,
    readOnly: true,
  },
];

/** Ours, and those that the conversation was started with; one of the same name takes the place of ours. */
export function kindsOf(definitions: readonly AgentDefinition[]): ReadonlyMap<string, SubAgentKind> {
  const given = definitions.map(
    (definition): SubAgentKind => ({
      name: definition.name,
      description: definition.description,
      tools: definition.tools.length === 0 ? null : definition.tools,
      prompt: definition.system_prompt,
      alone: definition.system_prompt !== '',
      maxIterations: definition.max_iteration_per_run ?? MAX_ITERATIONS,
      readOnly: false,
    }),
  );
  return new Map([...OURS, ...given].map((kind) => [kind.name, kind]));
}

/** The tools that a sub-agent of this kind has, of its parent's. */
export function toolsOf(kind: SubAgentKind, parent: readonly Tool[]): Tool[] {
  const wanted = kind.tools === null ? null : new Set([...kind.tools.map(plain), 'finish']);
  const own = parent.filter((tool) => {
    if (tool.makesSubAgents === true) return false;
    const names = [tool.definition.name, ...(tool.aliases ?? [])];
    return wanted === null || names.some((name) => wanted.has(plain(name)));
  });
  return kind.readOnly ? own.map((tool) => (EDITORS.has(tool.kind) ? FILE_VIEWER : tool)) : own;
}

/** OpenHands names tools both `file_editor` and `FileEditorTool`. */
function plain(name: string): string {
  return name.replace(/Tool$/, '').replaceAll('_', '').toLowerCase();
}
