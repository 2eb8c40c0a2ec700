import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';

const Cursor = z.tuple([z.int().min(0).max(1), z.string().max(64), z.string().max(64)]);

/** Where a page of prompts ended: those whose name begins with what is searched for are first, then by name and id. */
export interface PromptPlace {
  readonly rank: number;
  readonly name: string;
  readonly id: string;
}

export function writePromptCursor({ rank, name, id }: PromptPlace): string {
  return Buffer.from(JSON.stringify([rank, name, id])).toString('base64url');
}

/** @throws SlipwayError `request.invalid` for a cursor that this server did not write. */
export function readPromptCursor(cursor: string): PromptPlace {
  try {
    const [rank, name, id] = parseOrThrow(Cursor, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { rank, name, id };
  } catch (error) {
    const message = 'is not one that a page of this list ended with';
    throw new SlipwayError('request.invalid', `cursor: ${message}`, {
      fields: [{ path: 'cursor', message }],
      cause: error,
    });
  }
}
