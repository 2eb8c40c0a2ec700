import { listOf, objectOf, parseObject } from './json.js';

/**
 * Takes frames out of a stream that passes through: what is no JSON, which clients throw at, and a frame of counts that
 * the caller has not asked for, which has no choice to read. A frame is checked whole: one over several lines is one.
 * @param frames whole frames, as bytes of UTF-8.
 */
export function withoutUnwanted(frames: Buffer, countsWanted: boolean): Buffer | null {
  const kept: string[] = [];
  let left = false;
  for (const frame of frames.toString('utf8').split(/(?<=\r?\n\r?\n)/)) {
    if (isUnwanted(dataOf(frame), countsWanted)) left = true;
    else kept.push(frame);
  }
  if (!left) return frames;
  return kept.length === 0 ? null : Buffer.from(kept.join(''));
}

/** @param data what stands behind `data:`, trimmed. */
export function isUnwanted(data: string, countsWanted: boolean): boolean {
  return isGarbage(data) || (!countsWanted && countsAlone(data));
}

/** A check of the braces: a frame is not parsed for it. */
export function isGarbage(data: string): boolean {
  return data !== '' && data !== '[DONE]' && !(data.startsWith('{') && data.endsWith('}'));
}

/** Of chat: counts and no choice. */
export function countsAlone(data: string): boolean {
  if (!data.includes('"usage"') || !data.includes('"choices"')) return false;
  const frame = parseObject(data);
  return (
    frame !== null &&
    Array.isArray(frame['choices']) &&
    listOf(frame['choices']).length === 0 &&
    objectOf(frame['usage']) !== null
  );
}

function dataOf(frame: string): string {
  return frame
    .split('\n')
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n')
    .trim();
}
