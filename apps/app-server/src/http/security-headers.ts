import type { FastifyInstance } from 'fastify';

/** The policy of an answer. @param inline which inline scripts may run, as a source of the policy; none by default. */
export type ContentPolicy = (inline?: `'nonce-${string}'`) => string;

/**
 * Headers of every answer. Everything is our own origin; an inline script is one of ours only by the nonce of this very
 * answer. Styles may be inline: React, the editor and the terminal set them on elements. With a gateway a page may also
 * hand a ticket in at a sandbox's own origin, by a form, and open live channels at the gateway, by sockets; nothing
 * else there.
 */
export function installSecurityHeaders(
  fastify: FastifyInstance,
  publicUrl: string,
  sandboxGatewayUrl: string | undefined,
): ContentPolicy {
  const { host, protocol } = new URL(publicUrl);
  const sockets = [socketOrigin({ protocol, host })];
  const gateway = sandboxGatewayUrl === undefined ? null : new URL(sandboxGatewayUrl);
  if (gateway !== null) sockets.push(socketOrigin(gateway));
  const policy: ContentPolicy = (inline) =>
    [
      "default-src 'self'",
      "worker-src 'self'",
      `script-src 'self'${inline === undefined ? '' : ` ${inline}`}`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      `connect-src 'self' ${sockets.join(' ')}`,
      "object-src 'none'",
      "base-uri 'none'",
      `form-action 'self'${gateway === null ? '' : ` ${gateway.protocol}//*.${gateway.host}`}`,
      "frame-ancestors 'none'",
    ].join('; ');
  const headers = {
    'content-security-policy': policy(),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // The origin and no path. Not `same-origin`: a browser would send the form with the ticket as of the origin `null`,
    // which the gateway refuses.
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    ...(protocol === 'https:' ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
  return policy;
}

function socketOrigin({ protocol, host }: { protocol: string; host: string }): string {
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
}
