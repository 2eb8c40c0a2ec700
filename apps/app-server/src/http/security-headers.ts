import type { FastifyInstance } from 'fastify';

/** Headers of every answer. Scripts and styles may be inline, because Next.js writes its page data so; everything else is our own origin. */
export function installSecurityHeaders(fastify: FastifyInstance, publicUrl: string): void {
  const { host, protocol } = new URL(publicUrl);
  const socket = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
  const headers = {
    'content-security-policy': [
      "default-src 'self'",
      "script-src 'self' 'unsafe-inline'",
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      `connect-src 'self' ${socket}`,
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    ...(protocol === 'https:' ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
}
