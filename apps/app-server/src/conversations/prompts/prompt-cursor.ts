import { z } from 'zod';
import { readPageCursor, writePageCursor } from '../../http/page-cursor.js';

const Cursor = z.tuple([z.int().min(0).max(1), z.string().max(64), z.string().max(64)]);

/** Where a page of prompts ended: those whose name begins with what is searched for are first, then by name and id. */
export interface PromptPlace {
  readonly rank: number;
  readonly name: string;
  readonly id: string;
}

export function writePromptCursor({ rank, name, id }: PromptPlace): string {
  return writePageCursor([rank, name, id]);
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readPromptCursor(cursor: string): PromptPlace {
  const [rank, name, id] = readPageCursor(Cursor, cursor);
  return { rank, name, id };
}
