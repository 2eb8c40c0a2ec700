import type { ListConversationsQuery } from '@slipway/contracts/conversations';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import type { ListPosition } from './conversation-list.queries.js';

type Sort = ListConversationsQuery['sort'];

const time = z.iso.datetime();
/** Millionths of a dollar. */
const cost = z.string().regex(/^-?\d{1,18}$/);
const Cursor = z.union([
  z.tuple([z.enum(['created', 'updated']), time, z.uuid()]),
  z.tuple([z.literal('cost'), cost, z.uuid()]),
]);

export function writeListCursor(sort: Sort, { at, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([sort, at, id])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write, or wrote for another sort. */
export function readListCursor(sort: Sort, cursor: string): ListPosition {
  try {
    const [of, at, id] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (of !== sort) throw new Error(`is of the sort ${of}`);
    return { at, id };
  } catch (error) {
    throw new SlipwayError('request.invalid', 'cursor: is not one that a page of this list ended with', {
      fields: [{ path: 'cursor', message: 'is not one that a page of this list ended with' }],
      cause: error,
    });
  }
}
