import { z } from 'zod';
import { invalid } from '../code-host-address.js';

const Place = z.string().min(1).max(800);
const At = z.tuple([z.string().max(300).nullable(), z.int().min(0).max(1_000)]);

export const placeCursor = (place: string): string => write(place);
export const branchCursor = ({ page, index }: { readonly page: string | null; readonly index: number }): string =>
  write([page, index]);

/** @throws SlipwayError `request.invalid` */
export const readPlaceCursor = (cursor: string): string => read(cursor, Place);

/** @throws SlipwayError `request.invalid` */
export function readBranchCursor(cursor: string): { readonly page: string | null; readonly index: number } {
  const [page, index] = read(cursor, At);
  return { page, index };
}

function write(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function read<T>(cursor: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch {
    throw invalid('cursor', 'is none of this list');
  }
}
