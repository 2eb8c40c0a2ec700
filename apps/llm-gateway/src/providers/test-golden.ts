import { readFileSync } from 'node:fs';
import { expect } from 'expect';
import type { AnswerEvent, AnswerReader } from '../wire/turns.js';
import { writeMessage } from './test-event-stream.js';

const FOLDER = new URL('../../src/providers/golden/', import.meta.url);

/**
 * A recorded answer. Those of Bedrock's streams are kept as their events, and come as the bytes that AWS makes of them.
 */
export function golden(name: string): Buffer {
  const bytes = readFileSync(new URL(name, FOLDER));
  if (!name.endsWith('.events.json')) return bytes;
  const events = JSON.parse(bytes.toString('utf8')) as Array<[string, object]>;
  return Buffer.concat(
    events.map(([type, payload]) => writeMessage(headersOf(type), Buffer.from(JSON.stringify(payload)))),
  );
}

function headersOf(type: string): Record<string, string> {
  const kind = type.endsWith('Exception') ? 'exception' : 'event';
  return { [`:${kind}-type`]: type, ':content-type': 'application/json', ':message-type': kind };
}

/** All events of a stream that comes in these pieces. */
export function eventsOf(reader: AnswerReader, bytes: Buffer, places: readonly number[] = []): AnswerEvent[] {
  const events = [...places, bytes.length].flatMap((place, index) =>
    reader.push(bytes.subarray(places[index - 1] ?? 0, place)),
  );
  return [...events, ...reader.end()];
}

/**
 * Deltas of one kind as one, and only the last count: what a stream and an answer in one piece have in common. Ids are
 * left to the caller.
 */
export function joined(events: readonly AnswerEvent[]): AnswerEvent[] {
  const all: AnswerEvent[] = [];
  const lastCount = events.findLast(({ kind }) => kind === 'usage');
  for (const event of events) {
    const last = all.at(-1);
    if (event.kind === 'usage') continue;
    if ((event.kind === 'text' || event.kind === 'thinking') && last?.kind === event.kind)
      all[all.length - 1] = { kind: event.kind, text: last.text + event.text };
    else if (event.kind === 'tool-arguments' && last?.kind === event.kind)
      all[all.length - 1] = { ...event, text: last.text + event.text };
    else if ((event.kind === 'finish' || event.kind === 'error') && lastCount !== undefined) all.push(lastCount, event);
    else all.push(event);
  }
  return all.map((event) =>
    event.kind === 'tool-arguments' ? { ...event, text: JSON.stringify(JSON.parse(event.text)) } : event,
  );
}

/** The reader says the same wherever the stream is cut once, and in single bytes. */
export function expectSameHoweverCut(
  make: () => AnswerReader,
  bytes: Buffer,
  same: (events: readonly AnswerEvent[]) => unknown = joined,
): void {
  const whole = JSON.stringify(same(eventsOf(make(), bytes)));
  const wrong = Array.from(bytes.keys()).filter(
    (place) => JSON.stringify(same(eventsOf(make(), bytes, [place]))) !== whole,
  );
  expect(wrong).toEqual([]);
  expect(JSON.stringify(same(eventsOf(make(), bytes, Array.from(bytes.keys()))))).toBe(whole);
}
