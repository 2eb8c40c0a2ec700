import type { Mentioned } from './mentions.ts';
import type { Token } from './token.ts';

/** One line of the list above the box. */
export interface Suggestion {
  /** Different for each line of one list. */
  readonly key: string;
  readonly kind: 'file' | 'conversation' | 'user' | 'prompt';
  readonly label: string;
  /** What distinguishes it from others of that name: a folder, a status, an address. */
  readonly detail: string | null;
  /** What is written for it; a prompt is written as its own text. */
  readonly writes: Mentioned | { readonly kind: 'prompt'; readonly text: string };
}

/** What the list offers now. */
export interface Suggestions {
  readonly lines: readonly Suggestion[];
  readonly isBusy: boolean;
  /** Why something is not among them, in a sentence; `null`: nothing is missing. */
  readonly note: string | null;
}

/**
 * Whether a list is open at the caret. A `/` begins many words that are no prompt (`/tmp`, `/etc`): without a line to
 * take, a list over the text would say nothing and would have Escape.
 */
export function isOffered(token: Token | null, lines: readonly Suggestion[]): token is Token {
  return token !== null && (token.mark === '@' || lines.length > 0);
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
