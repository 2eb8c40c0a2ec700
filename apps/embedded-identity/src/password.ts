import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * OWASP's first choice for scrypt: 128 MiB would be N = 2^17; 2^15 keeps a sign-in below 0.1 s on a small machine at 32
 * MiB.
 */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const satisfies ScryptOptions;
const HASH_BYTES = 32;

/** `scrypt$N$r$p$salt$hash`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return [
    'scrypt',
    COST.N,
    COST.r,
    COST.p,
    salt.toString('base64url'),
    (await derive(password, salt, COST)).toString('base64url'),
  ].join('$');
}

/** Takes as long for a stored value that is malformed as for one that is not the password's. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored.split('$');
  const expected = Buffer.from(hash, 'base64url');
  const actual = await derive(password, Buffer.from(salt, 'base64url'), {
    ...COST,
    ...(hash === '' ? {} : { N: Number(N), r: Number(r), p: Number(p) }),
  });
  return expected.length === HASH_BYTES && timingSafeEqual(actual, expected);
}

function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );
}
