import { SlipwayError } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import type { SlipwayRequest } from './request.js';

/** Where OAuth and OpenID Connect demand a form. The form itself authenticates its sender. */
export const FORM_ROUTES: ReadonlySet<string> = new Set([
  '/oauth/backchannel-logout',
  '/oauth/device/authorize',
  '/oauth/device/token',
]);
/** Whose body is bytes, which the handler reads: nothing of it is read for who may not send it. */
const FILE_ROUTES: ReadonlySet<string> = new Set([
  '/api/v1/orgs/:org/attachments',
  '/api/v1/orgs/:org/conversations/:conversation/attachments',
]);
/** Largest form. Bytes. */
const MAX_FORM_BYTES = 64 * 1024;

/** How JSON writes what is no text (`unstorableText`): the bytes themselves cannot, once they are read as UTF-8. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * Bodies are JSON and nothing else, but for the forms of `FORM_ROUTES` and the files of `FILE_ROUTES`. None at all is
 * as good as an absent one; a body that is not JSON is refused, with the position of the error.
 */
export function installJsonBody(fastify: FastifyInstance): void {
  // Keys that would change an object's prototype are refused, not dropped.
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i,
    { parseAs: 'string' },
    (request, body, done) => {
      if (body.length === 0) return done(null, undefined);
      (request as SlipwayRequest).plainText = !UNSTORABLE.test(body as string);
      parse(request, body as string, (error, value) =>
        error === null ? done(null, value) : done(notJson(body as string, error)),
      );
    },
  );
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (request, body, done) => {
      if (!FORM_ROUTES.has(request.routeOptions.url ?? '')) return done(noJson());
      done(null, Object.fromEntries(new URLSearchParams(body as string)));
    },
  );
  fastify.addContentTypeParser('application/octet-stream', (request, payload, done) => {
    if (FILE_ROUTES.has(request.routeOptions.url ?? '')) return done(null, payload);
    payload.resume();
    done(noJson());
  });
  fastify.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(noJson());
  });
}

function noJson(): SlipwayError {
  return new SlipwayError('request.not-json', 'The body must be JSON, with the header content-type: application/json.');
}

function notJson(body: string, cause: Error): SlipwayError {
  try {
    JSON.parse(body);
    return new SlipwayError('request.not-json', 'The body has a key that is not allowed.', { cause });
  } catch (error) {
    return new SlipwayError(
      'request.not-json',
      `The body could not be read as JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'malformed'}.`,
      {
        cause,
      },
    );
  }
}
