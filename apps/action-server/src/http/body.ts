import type { IncomingMessage } from 'node:http';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

/** Largest JSON body: a file of the editor's limit, escaped. Bytes. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

/**
 * The JSON body as the schema reads it. @throws SlipwayError `request.not-json`, `request.too-large`,
 * `request.invalid`.
 */
export async function jsonBody<T extends z.ZodType>(request: IncomingMessage, schema: T): Promise<z.output<T>> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroying the request would take the answer's connection with it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_JSON_BYTES)
      throw new SlipwayError('request.too-large', `The body may have ${MAX_JSON_BYTES / 1024 / 1024} MiB.`);
    chunks.push(chunk);
  }
  return parseOrThrow(schema, parsed(Buffer.concat(chunks).toString()));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SlipwayError('request.not-json', 'The body is not JSON.', { cause: error });
  }
}
