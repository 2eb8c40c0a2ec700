import type { AgentAction } from '@slipway/contracts';

/** Longest text that rules look at. UTF-16 code units: what is harmful says so early, and an endless command must not cost seconds. */
const MAX_LENGTH = 20_000;

/** What of an action a shell or an interpreter would run; `null` when it runs nothing. Line continuations are joined and runs of blanks are one. */
export function commandOf(action: AgentAction): string | null {
  const { command, code, is_input: isInput } = action as { kind: string; command?: unknown; code?: unknown; is_input?: unknown };
  const text = action.kind === 'TerminalAction' ? command : code;
  if (typeof text !== 'string' || text === '' || (isInput === true && /^C-[a-z]$/i.test(text))) return null;
  return text
    .slice(0, MAX_LENGTH)
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/[ \t]+/g, ' ');
}

/** The file that an action changes; `null` when it changes none, or only looks. */
export function pathOf(action: AgentAction): string | null {
  const { path, command } = action as { path?: unknown; command?: unknown };
  return action.kind === 'FileEditorAction' && command !== 'view' && typeof path === 'string' ? path.slice(0, MAX_LENGTH) : null;
}
