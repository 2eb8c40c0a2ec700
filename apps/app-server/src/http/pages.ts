import httpProxy from '@fastify/http-proxy';
import { notFound } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';

/** First parts of paths that are never a page. */
const OURS: ReadonlySet<string> = new Set(['api', 'oauth', 'ingest', 'socket.io', 'alive', 'ready', 'metrics']);
/** The session's cookie, by both of its names. */
const SESSION = /^\s*(?:__Host-)?keycloak_auth/;
/** Longest wait for a page. Milliseconds. */
const PAGE_TIMEOUT_MS = 15_000;

const WEB_IS_DOWN = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Slipway: the pages do not answer</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}</style>
<main><h1>The pages do not answer</h1><p>The server runs, but the process that makes its pages (apps/web) cannot be reached. Your conversations go on working. Reload in a moment.</p></main></html>`;

/** Hands every GET that is not ours on to the pages' server. It never sees the session cookie. When it is down, a page says so (502). */
export async function installPages(fastify: FastifyInstance, webUrl: string): Promise<void> {
  await fastify.register(httpProxy, {
    upstream: webUrl,
    prefix: '/',
    httpMethods: ['GET', 'HEAD'],
    proxyPayloads: false,
    undici: { headersTimeout: PAGE_TIMEOUT_MS, bodyTimeout: PAGE_TIMEOUT_MS, connect: { timeout: 3_000 } },
    preHandler: (request, _reply, done) => {
      const first = request.url.split(/[/?]/, 2)[1] ?? '';
      done(OURS.has(first) ? notFound() : undefined);
    },
    replyOptions: {
      // A connection that was kept open ends when its replica of the pages does: the page is asked for again, on another one.
      retriesCount: 2,
      rewriteRequestHeaders: (_request, headers) => ({ ...headers, cookie: withoutSession(headers.cookie) }),
      onError: (reply) => void reply.code(502).type('text/html; charset=utf-8').send(WEB_IS_DOWN),
    },
  });
}

function withoutSession(cookies: string | undefined): string {
  return (cookies ?? '')
    .split(';')
    .filter((cookie) => !SESSION.test(cookie))
    .join(';');
}
