import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';

const Cursor = z.tuple([z.string().max(128), z.string().max(64)]);

/** Where a page of secrets ended: by name and then id. */
export function writeSecretCursor({ name, id }: { readonly name: string; readonly id: string }): string {
  return writePageCursor([name, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readSecretCursor(cursor: string): { name: string; id: string } {
  const [name, id] = readPageCursor(Cursor, cursor);
  return { name, id };
}
