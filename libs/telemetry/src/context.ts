import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What is known of the work under way; every log line has it. Filled in as it becomes known. */
export interface RequestContext {
  requestId?: string;
  /** The browser asks not to be tracked (`Sec-GPC`, `DNT`). */
  refusesTracking?: boolean;
  /** Where the request came from, as far as this process can tell. */
  address?: string;
  /** 32 hex digits, from `traceparent`: one id from the browser's click to the tool call. */
  traceId: string;
  orgId?: string;
  userId?: string;
  conversationId?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The context of the code that is running, or `undefined` outside of one. Its fields may be set. */
export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** A later version may add fields; version ff and an id of zeros are none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/**
 * The trace id of a W3C `traceparent`, or a new one when it is absent or malformed. Of several values the first that is
 * one counts: a client whose tracer adds a second header, which Node joins to one by commas, keeps its trace.
 */
export function traceIdOf(traceparent: string | readonly string[] | undefined): string {
  const values = typeof traceparent === 'string' ? [traceparent] : (traceparent ?? []);
  for (const value of values.flatMap((each) => each.split(','))) {
    const id = TRACEPARENT.exec(value.trim())?.[1];
    if (id !== undefined) return id;
  }
  return randomHex(32);
}

/** Of the work under way; outside of any, and where that has none, `otherwise` or a new one. */
export function currentTraceId(otherwise?: string): string {
  return currentContext()?.traceId || otherwise || randomHex(32);
}

/**
 * A `traceparent` with a new span under the current trace (or under `traceId`). Not exported by the package:
 * `currentTraceparent` asks the tracer first.
 */
export function makeTraceparent(traceId?: string, sampled = true): string {
  return `00-${traceId ?? currentTraceId()}-${randomHex(16)}-${sampled ? '01' : '00'}`;
}

/**
 * The system's randomness, fetched for many ids at once: a call for each takes longer than all else that names a
 * request. No digit is given out twice.
 */
let reserve = '';
let used = 0;

function randomHex(digits: number): string {
  if (used + digits > reserve.length) {
    reserve = randomBytes(1_024).toString('hex');
    used = 0;
  }
  used += digits;
  return reserve.slice(used - digits, used);
}
