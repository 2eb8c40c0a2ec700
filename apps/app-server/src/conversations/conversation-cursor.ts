import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../http/page-cursor.js';

/** Where a page of the list ended: newest first, by time and then id. */
const Cursor = z.tuple([z.iso.datetime(), z.uuid()]);

export interface ListPosition {
  readonly createdAt: string;
  readonly id: string;
}

export function writeCursor({ createdAt, id }: ListPosition): string {
  return writePageCursor([createdAt, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readCursor(cursor: string): ListPosition {
  const [createdAt, id] = readPageCursor(Cursor, cursor);
  return { createdAt, id };
}
