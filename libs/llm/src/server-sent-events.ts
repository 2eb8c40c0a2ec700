import { SlipwayError } from '@slipway/errors';

/** Longest line of a stream. Bytes; a model that writes more in one line is broken, and would fill the memory. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;

/**
 * The `data:` payloads of a server-sent-event stream, in order. Comments and other fields are skipped; a last line
 * without a newline still counts.
 * @throws SlipwayError `model.bad-response` for a line longer than `MAX_LINE_BYTES`.
 */
export async function* readServerSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n', start); end !== -1; end = rest.indexOf('\n', start)) {
      const data = dataOf(rest.slice(start, end));
      start = end + 1;
      if (data !== null) yield data;
    }
    rest = rest.slice(start);
    if (rest.length > MAX_LINE_BYTES)
      throw new SlipwayError('model.bad-response', 'The model sent a line of more than 10 MB.');
  }
  const data = dataOf(rest + decoder.decode());
  if (data !== null) yield data;
}

function dataOf(line: string): string | null {
  if (!line.startsWith('data:')) return null;
  const data = line.slice(5).trim();
  return data === '' ? null : data;
}
