import type { z } from 'zod';

/** What a step counts as where somebody reads what an agent does, such as in a thread. */
export type Activity = 'command' | 'file-change' | 'look' | 'browser' | 'tool-call';

type SchemaWithKind = z.ZodType & { readonly shape: { readonly kind: { readonly value: string } } };

/** What one tool of the agent is, to everything but the model and what carries it out. */
export interface ToolContract {
  /** What a call asks for. Its `kind` is the tool's name in the log. */
  readonly action: SchemaWithKind;
  /** What it answers. Absent: content and error alone, named as the action with `Observation` at its end. */
  readonly observation?: SchemaWithKind;
  /** action-server carries it out, or the agent itself. */
  readonly runsIn: 'sandbox' | 'agent';
  /** Absent: it is no step that is counted. */
  readonly activity?: Activity;
  /** What Claude Code calls it, so that hook files written for that match. */
  readonly hookNames?: readonly string[];
  /**
   * Fields of its classes in OpenHands' SDK 1.58.0, beside `kind`, `content` and `is_error`. Absent: there is no such
   * class, and its clients are shown a tool of an MCP server. `tests/openhands-sdk` reads what is sent.
   */
  readonly openhands?: { readonly action: readonly string[]; readonly observation: readonly string[] };
}

export function kindOf({ action }: Pick<ToolContract, 'action'>): string {
  return action.shape.kind.value;
}

export function observationKindOf({ action, observation }: Pick<ToolContract, 'action' | 'observation'>): string {
  return observation?.shape.kind.value ?? kindOf({ action }).replace(/Action$/, 'Observation');
}
