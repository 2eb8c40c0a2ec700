import { Hint } from '@slipway/contracts/events';

/**
 * Hints as the payloads of one backend message each: a JSON array of hints, none above `maxBytes`.
 * Order is kept; a delta that is too long is cut into several at growing offsets, and never within a surrogate pair.
 */
export function packHints(hints: readonly Hint[], maxBytes: number): string[] {
  const frames: string[] = [];
  let current: string[] = [];
  let size = 2;
  for (const text of hints.flatMap((hint) => splitHint(hint, maxBytes - 2)).map((hint) => JSON.stringify(hint))) {
    const bytes = Buffer.byteLength(text) + 1;
    if (current.length > 0 && size + bytes > maxBytes) {
      frames.push(`[${current.join(',')}]`);
      current = [];
      size = 2;
    }
    current.push(text);
    size += bytes;
  }
  if (current.length > 0) frames.push(`[${current.join(',')}]`);
  return frames;
}

/** What a frame holds; entries that are not hints are left out (a newer replica may know more kinds). */
export function unpackHints(frame: string): Hint[] {
  const entries = parseJson(frame);
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) => {
    const hint = Hint.safeParse(entry);
    return hint.success ? [hint.data] : [];
  });
}

function splitHint(hint: Hint, maxBytes: number): Hint[] {
  if (Buffer.byteLength(JSON.stringify(hint)) < maxBytes) return [hint];
  if (hint.kind !== 'delta' || hint.delta.text.length < 2) return [];
  const { text, offset } = hint.delta;
  let middle = text.length >> 1;
  const before = text.charCodeAt(middle - 1);
  if (before >= 0xd800 && before <= 0xdbff) middle += 1;
  if (middle >= text.length) return [];
  const piece = (from: number, to: number): Hint => ({
    ...hint,
    delta: { ...hint.delta, offset: offset + from, text: text.slice(from, to) },
  });
  return [...splitHint(piece(0, middle), maxBytes), ...splitHint(piece(middle, text.length), maxBytes)];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
