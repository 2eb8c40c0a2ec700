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
  prefixed(
    prefix:
      | 'org'
      | 'usr'
      | 'ses'
      | 'sbx'
      | 'clm'
      | 'crd'
      | 'key'
      | 'run'
      | 'svc'
      | 'sec'
      | 'llm'
      | 'mcp'
      | 'prm'
      | 'egr'
      | 'egq'
      | 'cuq',
  ): string;
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Ids from the clock and the system's randomness. Within one millisecond they keep no order. */
export function createIds(clock: Clock, fill: (bytes: Uint8Array) => Uint8Array = fromReserve()): Ids {
  const bytes = (): Uint8Array => {
    const id = fill(new Uint8Array(16));
    const now = clock.now().getTime();
    for (let index = 0; index < 6; index += 1) id[index] = Math.floor(now / 2 ** (8 * (5 - index))) % 256;
    id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
    id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
    return id;
  };
  return {
    uuid: () => {
      const hex = Buffer.from(bytes()).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    prefixed: (prefix) => {
      // 128 bits in groups of five from the end: the first character has three.
      const id = bytes();
      let text = BASE32.charAt((id[0] ?? 0) >> 5);
      let rest = (id[0] ?? 0) & 31;
      let bits = 5;
      for (let index = 1; ; index += 1) {
        for (; bits >= 5; rest &= (1 << bits) - 1) {
          bits -= 5;
          text += BASE32.charAt(rest >> bits);
        }
        if (index === id.length) return `${prefix}_${text}`;
        rest = (rest << 8) | (id[index] ?? 0);
        bits += 8;
      }
    },
  };
}

/** When an id of `prefixed` was made, by its maker's clock. @throws Error for what is none. */
export function timeOfId(id: string): Date {
  // The 48 bits of the time are the first character's three and nine groups of five.
  const digits = [...id.slice(id.indexOf('_') + 1, id.indexOf('_') + 11)].map((character) => BASE32.indexOf(character));
  if (digits.length !== 10 || digits.includes(-1)) throw new Error(`${id} is no id with a time`);
  return new Date(digits.reduce((time, digit) => time * 32 + digit, 0));
}

/**
 * The system's randomness, fetched for many ids at once: a call for each costs more than the id. No byte is given out
 * twice.
 */
function fromReserve(): (bytes: Uint8Array) => Uint8Array {
  const reserve = new Uint8Array(4_096);
  let at = reserve.length;
  return (bytes) => {
    if (at + bytes.length > reserve.length) {
      randomFillSync(reserve);
      at = 0;
    }
    bytes.set(reserve.subarray(at, at + bytes.length));
    at += bytes.length;
    return bytes;
  };
}
