import type { ServerSpec } from './server-spec.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

/** As `fetch`, through the sandbox's proxy where there is one, with answers that end when a message in them is too large. */
export async function boundedFetch(spec: Extract<ServerSpec, { kind: 'remote' }>): Promise<{ fetch: typeof fetch; close(): void }> {
  const { Agent, EnvHttpProxyAgent, fetch: call } = await import('undici');
  const { http, https, none } = spec.proxy;
  // A tool may work for an hour, and a stream of notices be silent for longer.
  const limits = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } };
  const dispatcher =
    http === undefined && https === undefined
      ? new Agent(limits)
      : new EnvHttpProxyAgent({
          ...limits,
          ...(http === undefined ? {} : { httpProxy: http }),
          ...(https === undefined ? {} : { httpsProxy: https }),
          ...(none === undefined ? {} : { noProxy: none }),
        });
  const bounded = async (url: string | URL, init: object = {}): Promise<unknown> => {
    const answer = await call(url, { ...init, dispatcher });
    const { body, status, statusText, headers } = answer;
    if (body === null || status === 204 || status === 304) return answer;
    const events = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    return new Response(bound(body as unknown as ReadableStream<Uint8Array>, events), { status, statusText, headers: [...headers] });
  };
  return { fetch: bounded as typeof fetch, close: () => void dispatcher.destroy() };
}

/** A stream of events may be endless; what is between two of its empty lines may not, nor any other body. */
function bound(body: ReadableStream<Uint8Array>, events: boolean): ReadableStream<Uint8Array> {
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        const last = !events ? -1 : Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'));
        length = last === -1 ? length + text.length : text.length - last;
        if (length > MAX_MESSAGE_BYTES) controller.error(new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`));
        else controller.enqueue(chunk);
      },
    }),
  );
}
