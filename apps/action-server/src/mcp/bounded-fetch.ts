import { lookup as lookUp } from 'node:dns';
import { readFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { isMetadataAddress, isMetadataHost } from '@slipway/net';
import type { ServerSpec } from './server-spec.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

const NOT_ASKED = 'it leads to an address of the machine itself, which is not asked';

/** As programs resolve names, but for those that lead to a metadata service. */
const lookUpElsewhere: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, options, (error, found, family) => {
    const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
    if (error === null && addresses.some(isMetadataAddress)) return callback(new Error(NOT_ASKED), '', 0);
    callback(error, found, family);
  });
};

/**
 * As `fetch`, through the sandbox's proxy where there is one, with answers that end when a message in them is too
 * large.
 */
export async function boundedFetch(
  spec: Extract<ServerSpec, { kind: 'remote' }>,
): Promise<{ fetch: typeof fetch; close(): void }> {
  const { Agent, EnvHttpProxyAgent, fetch: call } = await import('undici');
  const { http, https, none } = spec.proxy;
  // A tool may work for an hour, and a stream of notices be silent for longer.
  const trust = spec.roots === undefined ? {} : { ca: await readFile(spec.roots) };
  const limits = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000, lookup: lookUpElsewhere, ...trust } };
  const dispatcher =
    http === undefined && https === undefined
      ? new Agent(limits)
      : new EnvHttpProxyAgent({
          ...limits,
          requestTls: trust,
          ...(http === undefined ? {} : { httpProxy: http }),
          ...(https === undefined ? {} : { httpsProxy: https }),
          ...(none === undefined ? {} : { noProxy: none }),
        });
  // Also what a redirect leads to.
  const guarded = dispatcher.compose((dispatch) => (options, handler) => {
    if (isMetadataHost(new URL(String(options.origin)).hostname)) throw new Error(NOT_ASKED);
    return dispatch(options, handler);
  });
  const bounded = async (url: string | URL, init: object = {}): Promise<unknown> => {
    const answer = await call(url, { ...init, dispatcher: guarded });
    const { body, status, statusText, headers } = answer;
    if (body === null || status === 204 || status === 304) return answer;
    const events = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
    return new Response(bound(body as unknown as ReadableStream<Uint8Array>, events), {
      status,
      statusText,
      headers: [...headers],
    });
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
        if (length > MAX_MESSAGE_BYTES)
          controller.error(new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`));
        else controller.enqueue(chunk);
      },
    }),
  );
}
