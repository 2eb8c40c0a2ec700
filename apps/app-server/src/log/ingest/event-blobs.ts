import { createHash } from 'node:crypto';
import { BLOB_MARKER, type BlobRef, blobRefOf, MAX_EVENT_BYTES } from '@slipway/contracts/events';

export interface EventBlob {
  readonly sha256: string;
  readonly content: Buffer;
}

/** Strings shorter than this stay in their event. UTF-16 code units. */
const MIN_BLOB_LENGTH = 4_096;
/**
 * What stays of a string that is moved out: enough for a screen to show before the remainder is requested. UTF-16 code
 * units.
 */
const PREVIEW_LENGTH = 2_048;

/**
 * The event as it is stored: over `MAX_EVENT_BYTES`, its longest strings are moved out, longest first, until it fits or
 * has no long string left.
 * @param text JSON of the event.
 */
export function moveOutBlobs(text: string): { text: string; blobs: EventBlob[] } {
  // A code unit is at most 3 bytes: most events are known to be small without counting.
  if (text.length * 3 <= MAX_EVENT_BYTES || Buffer.byteLength(text) <= MAX_EVENT_BYTES) return { text, blobs: [] };
  const event: unknown = JSON.parse(text);
  const places: StringPlace[] = [];
  collectStrings(event, places);
  places.sort((a, b) => b.text.length - a.text.length);
  const blobs = new Map<string, EventBlob>();
  let bytes = Buffer.byteLength(text);
  for (const place of places) {
    if (bytes <= MAX_EVENT_BYTES) break;
    const content = Buffer.from(place.text, 'utf8');
    const sha256 = createHash('sha256').update(content).digest('hex');
    const short = `${preview(place.text)}\n[blob sha256:${sha256} ${content.length} bytes]`;
    place.holder[place.key] = short;
    blobs.set(sha256, { sha256, content });
    bytes += Buffer.byteLength(JSON.stringify(short)) - Buffer.byteLength(JSON.stringify(place.text));
  }
  return { text: JSON.stringify(event), blobs: [...blobs.values()] };
}

/** The payloads that a stored event refers to. */
export function blobsOf(text: string): BlobRef[] {
  if (!text.includes('[blob sha256:')) return [];
  const places: StringPlace[] = [];
  collectStrings(JSON.parse(text), places, 0);
  return places.flatMap((place) => blobRefOf(place.text) ?? []);
}

/** The event with its long strings put back; a reference that `contents` does not hold stays as it is. */
export function putBackBlobs(text: string, contents: ReadonlyMap<string, string>): string {
  const event: unknown = JSON.parse(text);
  const places: StringPlace[] = [];
  collectStrings(event, places, 0);
  for (const place of places) {
    const whole = contents.get(BLOB_MARKER.exec(place.text)?.[1] ?? '');
    if (whole !== undefined) place.holder[place.key] = whole;
  }
  return JSON.stringify(event);
}

interface StringPlace {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
  readonly text: string;
}

/** Walks with a list of its own: events come from a sandbox and may be nested as deep as JSON allows. */
function collectStrings(root: unknown, places: StringPlace[], minLength = MIN_BLOB_LENGTH): void {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const holder = value as Record<string | number, unknown>;
    for (const key of Object.keys(holder)) {
      const item = holder[key];
      if (typeof item === 'string') {
        if (item.length >= minLength) places.push({ holder, key, text: item });
      } else if (typeof item === 'object' && item !== null) open.push(item);
    }
  }
}

/** Never ends within a surrogate pair. */
function preview(text: string): string {
  const last = text.charCodeAt(PREVIEW_LENGTH - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? PREVIEW_LENGTH - 1 : PREVIEW_LENGTH);
}
