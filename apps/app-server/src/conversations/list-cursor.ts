import type { ListConversationsQuery } from '@slipway/contracts/conversations';
import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../http/page-cursor.js';
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
  return writePageCursor([sort, at, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write, or wrote for another sort. */
export function readListCursor(sort: Sort, cursor: string): ListPosition {
  const [, at, id] = readPageCursor(Cursor, cursor, ([of]) => {
    if (of !== sort) throw new Error(`is of the sort ${of}`);
  });
  return { at, id };
}
