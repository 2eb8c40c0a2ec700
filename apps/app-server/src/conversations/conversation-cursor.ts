import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';

/** Where a page of the list ended: newest first, by time and then id. */
const Cursor = z.tuple([z.iso.datetime(), z.uuid()]);

export interface ListPosition {
  readonly createdAt: string;
  readonly id: string;
}

export function writeCursor({ createdAt, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readCursor(cursor: string): ListPosition {
  try {
    const [createdAt, id] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { createdAt, id };
  } catch (error) {
    throw new SlipwayError('request.invalid', 'cursor: is not one that a page of this list ended with', {
      fields: [{ path: 'cursor', message: 'is not one that a page of this list ended with' }],
      cause: error,
    });
  }
}
