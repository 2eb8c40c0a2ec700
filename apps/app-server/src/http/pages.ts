import { randomBytes } from 'node:crypto';
import httpProxy from '@fastify/http-proxy';
import { PREVIEW_HEADER } from '@slipway/contracts/operate';
import { notFound } from '@slipway/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STATIC, sendPacked } from './packed-files.js';
import { pagePreview } from './page-preview.js';
import type { ContentPolicy } from './security-headers.js';

/** First parts of paths that are never a page. */
const OURS: ReadonlySet<string> = new Set(['api', 'oauth', 'ingest', 'socket.io', 'alive', 'ready', 'metrics']);
/** The session's cookie, by both of its names. */
const SESSION = /^\s*(?:__Host-)?keycloak_auth/;
/** Longest wait for a page. Milliseconds. */
const PAGE_TIMEOUT_MS = 15_000;

const WEB_IS_DOWN = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Slipway: the pages do not answer</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}</style>
<main><h1>The pages do not answer</h1><p>The server runs, but the process that makes its pages (apps/web) cannot be reached. Your conversations go on working. Reload in a moment.</p></main></html>`;

/** Headers that the pages accept from us only. */
const GIVEN_BY_US: ReadonlySet<string> = new Set([
  'content-security-policy',
  'content-security-policy-report-only',
  'x-nonce',
  PREVIEW_HEADER,
]);
/** Pages for who is not signed in. */
const OPEN_PAGES: ReadonlySet<string> = new Set(['login', 'invite', 'device', '_next']);

/**
 * Hands every GET that is not ours on to the pages' server. It never sees the session cookie; what the page of a
 * conversation begins with, it is given (`page-preview.ts`). When it is down, a page says so (502). A browser that has
 * no session is led to sign-in at once. Each page has a nonce of its own, which the pages' server puts on its scripts:
 * Next.js reads it from the policy in the request.
 */
export async function installPages(fastify: FastifyInstance, webUrl: string, policy: ContentPolicy): Promise<void> {
  const nonces = new WeakMap<FastifyRequest, string>();
  const previews = new WeakMap<FastifyRequest, string>();
  const handOn: Parameters<FastifyReply['from']>[1] & object = {
    // A connection that was kept open ends when its replica of the pages does: the page is asked for again, on
    // another one.
    retriesCount: 2,
    rewriteRequestHeaders: (request, headers) => {
      const nonce = nonces.get(request as FastifyRequest);
      const preview = previews.get(request as FastifyRequest);
      const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !GIVEN_BY_US.has(name)));
      const given =
        nonce === undefined ? {} : { 'content-security-policy': policy(`'nonce-${nonce}'`), 'x-nonce': nonce };
      return {
        ...rest,
        cookie: withoutSession(headers.cookie),
        ...given,
        ...(preview === undefined ? {} : { [PREVIEW_HEADER]: preview }),
      };
    },
    onError: (reply) => void reply.code(502).type('text/html; charset=utf-8').send(WEB_IS_DOWN),
  };
  await fastify.register(httpProxy, {
    upstream: webUrl,
    prefix: '/',
    httpMethods: ['GET', 'HEAD'],
    proxyPayloads: false,
    undici: { headersTimeout: PAGE_TIMEOUT_MS, bodyTimeout: PAGE_TIMEOUT_MS, connect: { timeout: 3_000 } },
    preHandler: async (request, reply) => {
      if (OURS.has(request.url.split(/[/?]/, 2)[1] ?? '')) throw notFound();
      const signIn = signInOf(request);
      if (signIn !== null) return reply.redirect(signIn, 302);
      if (request.url.startsWith(STATIC)) return sendPacked(request, reply, handOn) ? reply : undefined;
      const nonce = randomBytes(16).toString('base64');
      nonces.set(request, nonce);
      void reply.header('content-security-policy', policy(`'nonce-${nonce}'`));
      const preview = await pagePreview(fastify, request);
      if (preview !== null) previews.set(request, preview);
    },
    replyOptions: {
      ...handOn,
      // With a preview the page holds what is for one reader.
      rewriteHeaders: (headers, request) =>
        previews.has(request as FastifyRequest) ? { ...headers, 'cache-control': 'private, no-store' } : headers,
    },
  });
}

/**
 * Where a browser without a session is led from a page that needs one, before the page is loaded in vain; `null` for
 * everything else. Whether a session holds, the page finds out.
 */
function signInOf({ url, headers }: FastifyRequest): string | null {
  if (
    headers['sec-fetch-dest'] !== 'document' ||
    (headers.cookie ?? '').split(';').some((cookie) => SESSION.test(cookie))
  )
    return null;
  const first = url.split(/[/?]/, 2)[1] ?? '';
  if (OPEN_PAGES.has(first) || first.includes('.')) return null;
  return first === '' ? '/login' : `/login?redirect=${encodeURIComponent(url)}`;
}

function withoutSession(cookies: string | undefined): string {
  return (cookies ?? '')
    .split(';')
    .filter((cookie) => !SESSION.test(cookie))
    .join(';');
}
