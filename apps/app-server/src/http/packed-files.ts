// With its types `reply.from` is known.
import type {} from '@fastify/http-proxy';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How a request is handed on to the pages' server. */
type HandOn = NonNullable<Parameters<FastifyReply['from']>[1]>;

/** Static files of the pages: the same for all users, and kept by browsers for ever. */
export const STATIC = '/_next/static/';
/** What of them is packed, by the end of its name. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['js', 'application/javascript; charset=UTF-8'],
  ['css', 'text/css; charset=UTF-8'],
]);

/**
 * Answers with the copy of a script or style that the build of apps/web packed with Brotli: a seventh smaller than
 * gzip, and packed once. Pages of another version may have none: then the file itself is handed on.
 * @returns `false` when the browser does not take it, or the file is none that is packed
 */
export function sendPacked(request: FastifyRequest, reply: FastifyReply, options: HandOn): boolean {
  const [file = ''] = request.url.split('?', 1);
  const type = TYPES.get(file.slice(file.lastIndexOf('.') + 1));
  if (type === undefined || !takesBrotli(request.headers['accept-encoding'])) return false;
  reply.from(`${file}.br`, {
    ...options,
    onResponse: (_request, answer, response) => {
      const { statusCode, stream } = response as unknown as { statusCode: number; stream: NodeJS.ReadableStream };
      if (statusCode === 404) {
        stream.resume();
        for (const name of ['content-encoding', 'content-length', 'content-type', 'etag']) reply.removeHeader(name);
        return void reply.from(request.url, options);
      }
      void reply.header('content-encoding', 'br').header('content-type', type).header('vary', 'Accept-Encoding');
      void (answer as unknown as FastifyReply).send(stream);
    },
  });
  return true;
}

function takesBrotli(accepted: string | string[] | undefined): boolean {
  return String(accepted ?? '')
    .split(',')
    .some((each) => /^\s*br\s*(?:$|;\s*q\s*=\s*(?:1|0\.\d*[1-9]))/.test(each));
}
