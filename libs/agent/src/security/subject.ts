import type { AgentAction } from '@slipway/contracts/actions';

/**
 * Longest text that rules examine. UTF-16 code units: harmful parts come early, and an endless command must not cost
 * seconds.
 */
const MAX_LENGTH = 20_000;

/**
 * What of an action a shell or an interpreter would run; `null` when it runs nothing. Line continuations are joined and
 * runs of blanks are one.
 */
export function commandOf(action: AgentAction): string | null {
  const {
    command,
    code,
    is_input: isInput,
  } = action as { kind: string; command?: unknown; code?: unknown; is_input?: unknown };
  const text =
    action.kind === 'TerminalAction' ? command : action.kind === 'MCPToolAction' ? textsIn(action.data) : code;
  if (typeof text !== 'string' || text === '' || (isInput === true && /^C-[a-z]$/i.test(text))) return null;
  return text
    .slice(0, MAX_LENGTH)
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/[ \t]+/g, ' ');
}

/** The effect of another party's tool is unknown: each of its arguments may be a command. */
function textsIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > 8) return '';
  return Object.values(value)
    .map((item) => textsIn(item, depth + 1))
    .filter((text) => text !== '')
    .join('\n');
}

/** The files that an action changes; none when it only reads. */
export function pathsOf(action: AgentAction): string[] {
  const { path, command, patch } = action as { path?: unknown; command?: unknown; patch?: unknown };
  if (action.kind === 'ApplyPatchAction' && typeof patch === 'string')
    return [...patch.matchAll(/^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, named = '']) =>
      named.trim().slice(0, MAX_LENGTH),
    );
  const edits = action.kind === 'FileEditAction' || (action.kind === 'FileEditorAction' && command !== 'view');
  return edits && typeof path === 'string' ? [path.slice(0, MAX_LENGTH)] : [];
}
