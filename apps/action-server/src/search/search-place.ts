import { type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { fileError } from '../files/disk-space.js';

/** What a search by name or by content found: the text for the model, and the files for a client. */
export interface FoundFiles {
  readonly text: string;
  readonly searchPath: string;
  readonly files: readonly string[];
  readonly truncated: boolean;
}

/**
 * Where a search begins: an absolute path, or one from the directory of the agent's shell. Links are followed. @throws
 * SlipwayError `file.not-found`, `request.invalid`.
 */
export async function searchPlace(
  directory: string,
  wanted: string | null | undefined,
): Promise<{ place: string; found: Stats }> {
  if (wanted?.includes('\0')) throw new SlipwayError('request.invalid', 'The path holds a NUL character.');
  const place = path.resolve(directory, wanted ?? '.');
  const found = await stat(place).catch((error: unknown) => Promise.reject(fileError(error, place)));
  return { place, found };
}

export function notADirectory(place: string): SlipwayError {
  return new SlipwayError('request.invalid', `${place} is not a directory.`);
}
