import { COMMAND_IDS, COMMANDS, type CommandId, isCommandId } from './commands.ts';

/** What a user has changed: keys by command, `null` for none. */
export type KeyChanges = Readonly<Partial<Record<CommandId, string | null>>>;

/** As it is kept in the browser. */
export interface KeySettings {
  readonly changes: KeyChanges;
  /** Whether a letter, digit or sign alone may be a shortcut (WCAG 2.1.4 wants that it can be switched off). */
  readonly singleKeys: boolean;
}

export const DEFAULT_KEY_SETTINGS: KeySettings = { changes: {}, singleKeys: true };

/** Longest stored keys of one command, and longest stored settings. UTF-16 code units. */
const MAX_KEYS = 60;
const MAX_STORED = 10_000;

/** Stored settings; what does not read, or names a command that is gone, is left out. */
export function readKeySettings(stored: string): KeySettings {
  if (stored === '' || stored.length > MAX_STORED) return DEFAULT_KEY_SETTINGS;
  try {
    const { changes, singleKeys } = JSON.parse(stored) as { changes?: unknown; singleKeys?: unknown };
    const known = Object.entries(typeof changes === 'object' && changes !== null ? changes : {}).filter(
      ([id, keys]) =>
        isCommandId(id) &&
        COMMANDS[id].fixed !== true &&
        (keys === null || (typeof keys === 'string' && keys.length <= MAX_KEYS && isPresses(keys))),
    );
    return { changes: Object.fromEntries(known) as KeyChanges, singleKeys: singleKeys !== false };
  } catch {
    return DEFAULT_KEY_SETTINGS;
  }
}

const isPresses = (keys: string): boolean => /^\S+(?: \S+){0,2}$/.test(keys) && !/[()]/.test(keys);

/** The keys of a command; `null`: it has none, or single keys are switched off and it needs them. */
export function keysOf(id: CommandId, { changes, singleKeys }: KeySettings): string | null {
  const keys = changes[id] === undefined ? COMMANDS[id].keys : changes[id];
  return keys === null || (!singleKeys && COMMANDS[id].fixed !== true && isSingleKey(keys)) ? null : keys;
}

/** Whether the first press is a character without ⌘, Ctrl or Alt: speech input and a hand on the keys type such. */
export function isSingleKey(keys: string): boolean {
  const [first = ''] = keys.split(' ');
  return /^(?:\[?Shift\]?\+)?.$/u.test(first);
}

/** Two presses are the same key, whichever way Shift is written. */
const plain = (press: string): string => press.replaceAll(/\[?Shift\]?\+(?=[^a-zA-Z0-9]$)/g, '').toLowerCase();

/** Whether both cannot be used: they are the same, or one is how the other begins. */
export function collide(one: string, other: string): boolean {
  const [a, b] = [one.split(' ').map(plain), other.split(' ').map(plain)];
  return a.every((press, index) => index >= b.length || press === b[index]);
}

const areApart = (one: CommandId, other: CommandId): boolean => {
  const [{ page: here, notOn: notHere }, { page: there, notOn: notThere }] = [COMMANDS[one], COMMANDS[other]];
  if (here === undefined || there === undefined) return here !== there && (here ?? there) === (notHere ?? notThere);
  return here !== there;
};

/** The commands whose keys these would take, other than `id`; those of another page are not there at the same time. */
export function conflictsOf(id: CommandId, keys: string, settings: KeySettings): readonly CommandId[] {
  return COMMAND_IDS.filter((other) => {
    const theirs = other === id || areApart(id, other) ? null : keysOf(other, { ...settings, singleKeys: true });
    return theirs !== null && collide(keys, theirs);
  });
}
