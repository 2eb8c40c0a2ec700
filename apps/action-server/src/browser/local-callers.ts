import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { isThisMachine, type WayOut } from './way-out.js';

/** Longest opening of a WebSocket: its cookies are in it. Bytes. */
const MAX_OPENING = 64 * 1024;
/** First byte of TLS, whose content is encrypted. */
const TLS = 0x16;
/** Most names that are remembered; with more, no name is trusted. */
const MAX_NAMES = 10_000;

/**
 * Which names of hosts mean this machine: those that have never led anywhere else. A name that did, and leads here
 * later, is a site that wants in (DNS rebinding).
 */
export class LocalNames {
  readonly #elsewhere = new Set<string>();

  learn(name: string, way: WayOut): void {
    if (this.#elsewhere.size < MAX_NAMES && (way.kind === 'proxy' || (way.kind === 'direct' && !way.own)))
      this.#elsewhere.add(name);
  }

  /**
   * Whether a name has led elsewhere before. Only addresses are known for certain once not all names are remembered.
   */
  ledElsewhere(name: string): boolean {
    return this.#elsewhere.has(name) || (this.#elsewhere.size >= MAX_NAMES && !isThisMachine(name));
  }

  /**
   * Whether this page, by its origin or address, is one of this machine. @param asked the host that it asks, which is
   * this machine.
   */
  has(page: string | undefined, asked: string): boolean {
    if (page === undefined || !URL.canParse(page)) return false;
    const { hostname } = new URL(page);
    return isThisMachine(hostname) || (hostname === asked && !this.ledElsewhere(asked));
  }
}

/**
 * Whether a request to a server of this machine comes from a page of this machine, or is a user's or the agent's own
 * going there. A page of another site may lead there too, as a sign-in does that ends on localhost, and only so:
 * without a body, and not in a frame. Chromium writes these headers; pages cannot.
 */
export function isOfThisMachine(headers: IncomingHttpHeaders, asked: string, names: LocalNames): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination, origin, referer } = headers;
  if (site === 'none' || site === 'same-origin' || site === 'same-site') return true;
  if (names.has(origin ?? referer, asked)) return true;
  // A form has an origin, a link has none.
  if (site !== undefined) return mode === 'navigate' && destination === 'document' && origin === undefined;
  // To an address that is not loopback Chromium does not name the page, but marks navigations: also in a frame, which
  // the page may read when both have the same host.
  if (names.ledElsewhere(asked)) return false;
  return headers['upgrade-insecure-requests'] === '1' && origin === undefined;
}

/**
 * What is said first in a tunnel to a server of this machine: `fine` with all of it that has come, of a page of another
 * site, or nothing that a browser says.
 */
export async function openingOf(
  socket: Duplex,
  head: Buffer,
  asked: string,
  names: LocalNames,
): Promise<{ readonly kind: 'fine'; readonly bytes: Buffer } | { readonly kind: 'other-site' | 'none' }> {
  let said = head;
  const whole = (): boolean => said[0] === TLS || said.includes('\r\n\r\n') || said.length > MAX_OPENING;
  while (!whole()) {
    const part = await nextOf(socket);
    if (part === null) return { kind: 'none' };
    said = Buffer.concat([said, part]);
  }
  if (said[0] === TLS) return { kind: 'fine', bytes: said };
  const text = said.toString('latin1');
  if (!text.startsWith('GET ') || said.length > MAX_OPENING) return { kind: 'none' };
  const origin = /^origin:[ \t]*(\S*)/im.exec(text.slice(0, text.indexOf('\r\n\r\n')))?.[1];
  return names.has(origin, asked) ? { kind: 'fine', bytes: said } : { kind: 'other-site' };
}

function nextOf(socket: Duplex): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const done = (part: Buffer | null): void => {
      socket.pause();
      for (const event of ['end', 'close', 'error'] as const) socket.off(event, nothing);
      socket.off('data', done);
      resolve(part);
    };
    const nothing = (): void => done(null);
    for (const event of ['end', 'close', 'error'] as const) socket.once(event, nothing);
    socket.once('data', done);
    if (socket.destroyed) nothing();
  });
}
