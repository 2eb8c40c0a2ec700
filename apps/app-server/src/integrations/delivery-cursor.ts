import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../http/page-cursor.js';

const Cursor = z.tuple([z.iso.datetime(), z.uuid()]);

/** Where a page of deliveries ended: by time and then id. */
export function writeDeliveryCursor({ receivedAt, id }: { readonly receivedAt: string; readonly id: string }): string {
  return writePageCursor([receivedAt, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readDeliveryCursor(cursor: string): { receivedAt: Date; id: string } {
  const [receivedAt, id] = readPageCursor(Cursor, cursor);
  return { receivedAt: new Date(receivedAt), id };
}
