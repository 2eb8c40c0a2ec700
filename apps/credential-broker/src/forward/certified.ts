import { createHash } from 'node:crypto';
import type { Tunnel } from '../intake/tunnel.js';
import type { Passed } from '../judge/judge-request.js';
import { Upstream, type UpstreamOptions } from './upstream.js';

/**
 * The connection that a request goes by: of one with a client certificate its own, which no other credential, and no
 * request without one, comes by.
 */
export function upstreamFor(tunnel: Tunnel, passed: Passed, rules: UpstreamOptions): Upstream {
  if (passed.credential === null) return tunnel.upstream;
  const { credential, used } = passed;
  if (credential.use.form !== 'mtls' || !used.includes(credential)) return tunnel.upstream;
  const key = `${credential.id} ${createHash('sha256').update(credential.value).digest('base64')}`;
  const known = tunnel.certified.get(key);
  if (known !== undefined) return known;
  // Of another value of the same credential: it is not used any more.
  for (const [other, upstream] of tunnel.certified)
    if (other.startsWith(`${credential.id} `)) {
      upstream.destroy();
      tunnel.certified.delete(other);
    }
  const made = new Upstream(tunnel.line, { ...rules, certificate: credential.value.toString() }, () => {
    if (tunnel.busy === 0) tunnel.socket.destroySoon();
  });
  tunnel.certified.set(key, made);
  return made;
}
