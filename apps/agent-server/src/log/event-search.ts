import type { ConversationEvent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { openhandsEvent } from '../openhands/openhands-event.js';
import { type EventLog, jsonOf, type LogEntry } from './event-log.js';

const MAX_PAGE = 100;

/** OpenHands' filters of `events/search` and `events/count`. A time without a zone is read as UTC. */
interface EventFilter {
  readonly kind: string | null;
  readonly source: string | null;
  readonly body: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

function filterOf(query: URLSearchParams): EventFilter {
  // Clients name a kind by its class, with or without the module it is in.
  const kind = query.get('kind') ?? query.get('kind__eq');
  return {
    kind: kind?.slice(kind.lastIndexOf('.') + 1) ?? null,
    source: query.get('source'),
    body: query.get('body'),
    from: utc(query, 'timestamp__gte'),
    to: utc(query, 'timestamp__lt'),
  };
}

export function searchEvents(
  log: EventLog,
  query: URLSearchParams,
): { items: ConversationEvent[]; next_page_id: string | null } {
  const limit = Number(query.get('limit') ?? MAX_PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new SlipwayError('request.invalid', `limit: must be 1 to ${MAX_PAGE}`);
  const order = query.get('sort_order') ?? 'TIMESTAMP';
  if (order !== 'TIMESTAMP' && order !== 'TIMESTAMP_DESC')
    throw new SlipwayError('request.invalid', 'sort_order: must be TIMESTAMP or TIMESTAMP_DESC');
  const filter = filterOf(query);
  const step = order === 'TIMESTAMP' ? 1 : -1;
  let index = startOf(log, query.get('page_id'), step);
  const items: ConversationEvent[] = [];
  for (; index >= 0 && index < log.entries.length; index += step) {
    const entry = log.entries[index] as LogEntry;
    if (!matches(entry, filter)) continue;
    if (items.length === limit) return { items, next_page_id: entry.event.id };
    items.push(openhandsEvent(entry.event));
  }
  return { items, next_page_id: null };
}

export function countEvents(log: EventLog, query: URLSearchParams): number {
  const filter = filterOf(query);
  return log.entries.reduce((sum, entry) => sum + (matches(entry, filter) ? 1 : 0), 0);
}

/** Position of the first event at or after a time; the log's end when there is none. */
export function firstSince(log: EventLog, timestamp: string): number {
  const index = log.events.findIndex((event) => event.timestamp >= timestamp);
  return index === -1 ? log.events.length : index;
}

/** A page begins at the event that is its id: the log only grows, so that it stays where it is. */
function startOf(log: EventLog, pageId: string | null, step: 1 | -1): number {
  if (pageId === null) return step === 1 ? 0 : log.entries.length - 1;
  const index = log.indexOf(pageId);
  if (index === -1) throw new SlipwayError('request.invalid', 'page_id: is not an event of this conversation');
  return index;
}

function matches({ event, ...entry }: LogEntry, filter: EventFilter): boolean {
  return (
    (filter.kind === null || event.kind === filter.kind) &&
    (filter.source === null || event.source === filter.source) &&
    (filter.from === null || event.timestamp >= filter.from) &&
    (filter.to === null || event.timestamp < filter.to) &&
    (filter.body === null || jsonOf({ event, ...entry }).includes(filter.body))
  );
}

function utc(query: URLSearchParams, name: string): string | null {
  const value = query.get(name);
  return value === null ? null : utcTime(value, name);
}

/** A time as events carry it. @throws SlipwayError `request.invalid`. */
export function utcTime(value: string, name: string): string {
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/i.test(value) ? value : `${value}Z`;
  const time = Date.parse(zoned);
  if (Number.isNaN(time)) throw new SlipwayError('request.invalid', `${name}: is not a time`);
  return new Date(time).toISOString();
}
