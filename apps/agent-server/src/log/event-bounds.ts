import type { ConversationEvent } from '@slipway/contracts/events';

/** A larger event is cut: a batch must stay under what the app takes. UTF-16 code units of JSON, about. */
const MAX_EVENT_LENGTH = 1024 * 1024;
/** What stays of each long string then, from both ends together. UTF-16 code units. */
const KEPT = 64 * 1024;

/** What stays of each long list then. */
const KEPT_ITEMS = 1_000;

/**
 * The event, with the middle of its long strings and lists cut out when it is larger than the log takes. Agents write
 * such events with whole files in them.
 */
export function boundEvent(event: ConversationEvent): ConversationEvent {
  return weight(event) <= MAX_EVENT_LENGTH ? event : (shorten(event) as ConversationEvent);
}

function weight(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 0;
  for (const item of Object.values(value)) sum += weight(item);
  return sum;
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= KEPT) return value;
    return `${value.slice(0, KEPT / 2)}\n[… ${value.length - KEPT} characters left out …]\n${value.slice(-KEPT / 2)}`;
  }
  if (Array.isArray(value))
    return (
      value.length <= KEPT_ITEMS ? value : [...value.slice(0, KEPT_ITEMS / 2), ...value.slice(-KEPT_ITEMS / 2)]
    ).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === 'arguments' ? shortenArguments(item) : shorten(item)]),
  );
}

/** Of a tool call: JSON before and JSON afterwards, since the model is shown it again, and providers read it. */
function shortenArguments(given: unknown): unknown {
  try {
    return typeof given === 'string' && given.length > KEPT
      ? JSON.stringify(shorten(JSON.parse(given)))
      : shorten(given);
  } catch {
    return shorten(given);
  }
}
