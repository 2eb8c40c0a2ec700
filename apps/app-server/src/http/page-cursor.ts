import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

/** Where a page of a list ended, for the client to hand back. It is no secret, and not to be read by it. */
export function writePageCursor(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * The place as the schema reads it. @param check throws for one of another list.
 * @throws SlipwayError `request.invalid` for a cursor that this list did not write.
 */
export function readPageCursor<T extends z.ZodType>(
  schema: T,
  cursor: string,
  check: (place: z.output<T>) => void = () => {},
): z.output<T> {
  try {
    const place = parseOrThrow(schema, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    check(place);
    return place;
  } catch (cause) {
    const message = 'is not one that a page of this list ended with';
    throw new SlipwayError('request.invalid', `cursor: ${message}`, { fields: [{ path: 'cursor', message }], cause });
  }
}
