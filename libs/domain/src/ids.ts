import { randomFillSync } from 'node:crypto';

/** Time and ids come in as arguments: these are the real ones, a test brings its own. */
export interface Clock {
  now(): Date;
}
export const systemClock: Clock = { now: () => new Date() };

export interface Ids {
  /** A UUIDv7. */
  uuid(): string;
  /** `prefix_` and a UUIDv7 in Crockford base32: opaque, sortable by time. */
  prefixed(prefix: 'org' | 'usr' | 'ses' | 'sbx' | 'clm' | 'key' | 'run'): string;
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Ids from the clock and the system's randomness. Within one millisecond they keep no order. */
export function createIds(clock: Clock, fill: (bytes: Uint8Array) => Uint8Array = (bytes) => randomFillSync(bytes)): Ids {
  const bytes = (): Uint8Array => {
    const id = fill(new Uint8Array(16));
    const now = clock.now().getTime();
    for (let index = 0; index < 6; index += 1) id[index] = Math.floor(now / 2 ** (8 * (5 - index))) % 256;
    id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
    id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
    return id;
  };
  return {
    uuid: () =>
      Buffer.from(bytes())
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    prefixed: (prefix) => {
      let number = BigInt(`0x${Buffer.from(bytes()).toString('hex')}`);
      let text = '';
      for (let index = 0; index < 26; index += 1) {
        text = BASE32[Number(number % 32n)] + text;
        number /= 32n;
      }
      return `${prefix}_${text}`;
    },
  };
}
