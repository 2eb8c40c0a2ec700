import { createHash } from 'node:crypto';
import type { Dialect } from '../wire/dialect.js';

export interface CachedAnswer {
  /** As the caller got it. */
  readonly body: Buffer;
}

interface Entry extends CachedAnswer {
  readonly until: number;
}

/** What an entry takes beside its body. Bytes, roughly. */
const ENTRY_BYTES = 300;

/**
 * Whole answers by what was asked, for as long as they are fresh; of this replica alone. The oldest go when there is no
 * room. Off unless the installation says so. Time is an argument, in milliseconds.
 */
export class ResponseCache {
  private readonly entries = new Map<string, Entry>();
  private bytes = 0;

  /** @param limit bytes of all of it. @param freshMs how old an answer may be. */
  constructor(
    private readonly limit: number,
    private readonly freshMs: number,
  ) {}

  get(key: string, now: number): CachedAnswer | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    if (entry.until > now) return entry;
    this.drop(key, entry);
    return null;
  }

  put(key: string, answer: CachedAnswer, now: number): void {
    const known = this.entries.get(key);
    if (known !== undefined) this.drop(key, known);
    const size = answer.body.length + ENTRY_BYTES;
    if (size > this.limit) return;
    this.entries.set(key, { ...answer, until: now + this.freshMs });
    this.bytes += size;
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.limit) return;
      this.drop(oldest, entry);
    }
  }

  private drop(key: string, entry: Entry): void {
    this.entries.delete(key);
    this.bytes -= entry.body.length + ENTRY_BYTES;
  }
}

/**
 * The same for requests that say the same, whatever the order of their fields and their spaces: a hash of the whole
 * body, with who asks (the organization) and what answers (the model's group). Every field counts, known to us or not.
 * `null` for a body that is no JSON.
 */
export function cacheKeyOf(orgId: string, group: string, dialect: Dialect, body: Buffer): string | null {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) value = { ...value, model: group };
    return createHash('sha256')
      .update(JSON.stringify([orgId, dialect, ordered(value)]))
      .digest('base64');
  } catch {
    return null;
  }
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)]);
}

/**
 * `x-slipway-cache`: `no` keeps a request away from the cache; a stream with tools is kept away unless it says `yes`,
 * since what it led to was done once.
 */
export function mayUseCache(
  header: string | string[] | undefined,
  request: { readonly stream: boolean; readonly tools: boolean },
): boolean {
  if (header === 'no') return false;
  return header === 'yes' || !(request.stream && request.tools);
}
