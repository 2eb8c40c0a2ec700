/**
 * What people write and have not sent or saved, kept in this browser: under these names, and with the time of the last
 * change in a list of its own.
 */
const PREFIXES = ['slipway.draft.', 'slipway.message.', 'slipway:file-draft:'];
const TIMES = 'slipway.written';
const WRITER = 'slipway.writer';

/** Nobody comes back for it after that. Milliseconds. */
export const MAX_AGE_MS = 30 * 86_400_000;
/**
 * Most that is kept, of which the newest: browsers give a site about five million characters, and the longest file that
 * can be edited is nearly half of them.
 */
export const MAX_KEPT = 200;
export const MAX_CHARACTERS = 4_000_000;
/** A time is noted anew when it is older: a key that is pressed needs no new list. Milliseconds. */
const NOTED_MS = 60_000;

type Times = Record<string, number>;

/**
 * Notes that something was written under this name, if it is one of those; an empty text, as after sending, is none.
 * @throws what the storage throws.
 */
export function noteWriting(storage: Storage, key: string, now: number): void {
  if (!isWriting(key)) return;
  if (storage.getItem(key) === '') {
    dropWriting(storage, key);
    return;
  }
  const times = timesIn(storage);
  const before = times[key];
  if (before !== undefined && now - before < NOTED_MS) return;
  times[key] = now;
  keepTimes(storage, times);
  if (before === undefined) sweepWriting(storage, now);
}

/** Takes it away, with its time: it was sent or saved. @throws what the storage throws. */
export function dropWriting(storage: Storage, key: string): void {
  storage.removeItem(key);
  const times = timesIn(storage);
  if (!Object.hasOwn(times, key)) return;
  delete times[key];
  keepTimes(storage, times);
}

/**
 * Drops what is too old, and the oldest of what is too much. What was kept before times were noted counts as written
 * now. @throws what the storage throws.
 */
export function sweepWriting(storage: Storage, now: number): void {
  const noted = timesIn(storage);
  // A clock that was wrong once keeps nothing for ever.
  const kept = keysOf(storage).map((key) => ({
    key,
    at: Math.min(noted[key] ?? now, now),
    length: lengthOf(storage, key),
  }));
  const times: Times = {};
  let characters = 0;
  let count = 0;
  for (const { key, at, length } of kept.sort((one, other) => other.at - one.at)) {
    // The newest is there, so there was room for it: its writer has read that it is kept.
    if (
      now - at < MAX_AGE_MS &&
      length > 0 &&
      count < MAX_KEPT &&
      (count === 0 || characters + length <= MAX_CHARACTERS)
    ) {
      times[key] = at;
      characters += length;
      count += 1;
    } else storage.removeItem(key);
  }
  keepTimes(storage, times);
}

/** At the end of a session: whoever comes next is perhaps somebody else. @throws what the storage throws. */
export function forgetWriting(storage: Storage): void {
  for (const key of keysOf(storage)) storage.removeItem(key);
  storage.removeItem(TIMES);
  storage.removeItem(WRITER);
}

/**
 * This user writes here from now on; what somebody else left, whose session ended without a sign-out, is forgotten.
 * @throws what the storage throws.
 */
export function beginWriting(storage: Storage, user: string, now: number): void {
  const before = storage.getItem(WRITER);
  if (before !== null && before !== user) forgetWriting(storage);
  if (before !== user) storage.setItem(WRITER, user);
  sweepWriting(storage, now);
}

const isWriting = (key: string): boolean => PREFIXES.some((prefix) => key.startsWith(prefix));

/** With its name; 0 for what is empty. UTF-16 code units. */
function lengthOf(storage: Storage, key: string): number {
  const value = storage.getItem(key) ?? '';
  return value === '' ? 0 : key.length + value.length;
}

function keysOf(storage: Storage): string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter(isWriting);
}

function keepTimes(storage: Storage, times: Times): void {
  if (Object.keys(times).length === 0) storage.removeItem(TIMES);
  else storage.setItem(TIMES, JSON.stringify(times));
}

function timesIn(storage: Storage): Times {
  try {
    const times: unknown = JSON.parse(storage.getItem(TIMES) ?? '{}');
    return typeof times === 'object' && times !== null
      ? Object.fromEntries(Object.entries(times).filter(([, at]) => typeof at === 'number'))
      : {};
  } catch {
    return {};
  }
}
