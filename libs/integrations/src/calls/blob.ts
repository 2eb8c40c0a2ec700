import { z } from 'zod';
import { fields } from '../reading/fields.js';

/** Of a file that people write. Bytes. */
const MAX_BLOB = 64 * 1024;
/** As long as base64 of it is, with its line ends. */
const MAX_BASE64 = MAX_BLOB * 1.5;

/** A file by its hash, as the three git hosts have it. */
export const blob = fields({ encoding: z.literal('base64'), content: z.string() });

export const blobText = ({ content }: z.output<typeof blob>): string =>
  Buffer.from(content.slice(0, MAX_BASE64), 'base64').subarray(0, MAX_BLOB).toString('utf8').toWellFormed();
