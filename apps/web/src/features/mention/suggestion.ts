import type { Mentioned } from './mentions.ts';
import type { Token } from './token.ts';

/** What a prompt puts into the box. */
export interface PromptText {
  readonly kind: 'prompt';
  readonly text: string;
}

/** One line of the list above the box. */
export interface Suggestion {
  /** Different for each line of one list. */
  readonly key: string;
  readonly kind: 'file' | 'conversation' | 'user' | 'prompt';
  readonly label: string;
  /** What distinguishes it from others of that name: a folder, a status, an address. */
  readonly detail: string | null;
  readonly writes: Mentioned | PromptText;
}

/** What the list offers now. */
export interface Suggestions {
  readonly lines: readonly Suggestion[];
  /** They may be those of other letters than are typed: Enter takes none of them. */
  readonly isBusy: boolean;
  /** Why something is not among them, in a sentence; `null`: nothing is missing. */
  readonly note: string | null;
}

/** Whether a list is shown. A word that begins a line may be no prompt at all: nothing is in its way then. */
export function isOffered(token: Token | null, { lines, note }: Suggestions): token is Token {
  if (token === null) return false;
  return token.mark === '@' || token.query === '' || lines.length > 0 || note !== null;
}

/** Files of a workspace that were looked for. */
export interface FoundFiles {
  readonly paths: readonly string[];
  readonly isBusy: boolean;
  /** There is no sandbox to look into, or it did not answer. */
  readonly isAway: boolean;
}

/**
 * The name by which a user is mentioned: no blanks, so that it ends where the word ends. Two users may share one; an
 * agent reads a name, not an account.
 */
export function mentionName(name: string): string {
  return name
    .trim()
    .replaceAll(/[\s@"]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}
