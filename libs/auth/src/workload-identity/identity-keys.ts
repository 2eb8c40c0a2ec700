import { createPrivateKey, type KeyObject } from 'node:crypto';
import { asSystem, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, type JWK } from 'jose';
import type { SecretBox } from '../secret-box/secret-box.js';
import {
  addIdentityKey,
  dropIdentityKeys,
  type IdentityKeyRow,
  identityKeys,
  lockIdentityKeys,
} from './identity-keys.queries.js';

/** How long a key signs. Whoever keeps our keys for less than that has the next one before it signs. Milliseconds. */
const SIGNS_MS = 30 * 86_400_000;
/** How long one is published after it has signed for the last time: longer than tokens are valid. Milliseconds. */
const PUBLISHED_AFTER_MS = 3_600_000;
/** How long keys that were read are used. Milliseconds. */
const FRESH_MS = 60_000;

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

interface Known {
  readonly rows: readonly IdentityKeyRow[];
  /** By id. */
  readonly opened: Map<string, KeyObject>;
  readonly until: number;
}

/**
 * The keys (ES256) that sign tokens of conversations: one that signs, the next one, which is published long before it
 * does, and for an hour the one before. They are made and dropped here, in one process at a time, when they are needed.
 */
export class IdentityKeys {
  private known: Known | null = null;
  private reading: Promise<Known> | null = null;

  constructor(
    private readonly pool: SqlPool,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Public keys, as a JWK Set has them. */
  async published(): Promise<readonly JWK[]> {
    const { rows } = await this.current();
    return rows.map(({ id, publicKey }) => ({ ...publicKey, kid: id, alg: 'ES256', use: 'sig' }));
  }

  /** @throws Error when the master key does not open it. */
  async signing(): Promise<SigningKey> {
    const { rows, opened } = await this.current();
    const row = rows.findLast(({ signsFrom }) => signsFrom.getTime() <= this.clock.now().getTime());
    if (row === undefined) throw new Error('no key signs tokens of conversations');
    const { id, sealed } = row;
    let key = opened.get(id);
    if (key === undefined) {
      key = createPrivateKey(this.box.decrypt(sealed, contextOf(id)));
      opened.set(id, key);
    }
    return { id, key };
  }

  private async current(): Promise<Known> {
    if (this.known !== null && this.known.until > this.clock.now().getTime()) return this.known;
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async read(): Promise<Known> {
    const now = this.clock.now().getTime();
    const rows = await asSystem(this.pool, 'slipway_app_system', 'keys of workload identity', async (client) => {
      const found = await identityKeys(client);
      return isDue(found, now) ? this.change(client, now) : found;
    });
    this.known = { rows, opened: new Map(), until: now + FRESH_MS };
    return this.known;
  }

  private async change(client: PoolClient, now: number): Promise<IdentityKeyRow[]> {
    await lockIdentityKeys(client);
    const found = await identityKeys(client);
    await dropIdentityKeys(client, outdated(found, now));
    if (!found.some((each) => signs(each, now))) await this.add(client, now);
    if (!found.some((each) => !signs(each, now))) await this.add(client, now + SIGNS_MS);
    return identityKeys(client);
  }

  private async add(client: PoolClient, signsFrom: number): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const id = await calculateJwkThumbprint(jwk);
    const sealed = this.box.encrypt(await exportPKCS8(privateKey), contextOf(id));
    await addIdentityKey(client, { id, publicKey: jwk, sealed, signsFrom: new Date(signsFrom) });
  }
}

const contextOf = (id: string): string => `identity-key:${id}`;

const signs = ({ signsFrom }: IdentityKeyRow, now: number): boolean => signsFrom.getTime() <= now;

const isDue = (rows: readonly IdentityKeyRow[], now: number): boolean =>
  !rows.some((each) => signs(each, now)) || !rows.some((each) => !signs(each, now)) || outdated(rows, now).length > 0;

/** Those whose successor has signed for long enough. */
const outdated = (rows: readonly IdentityKeyRow[], now: number): string[] =>
  rows.flatMap(({ id }, index) => {
    const next = rows[index + 1];
    return next !== undefined && next.signsFrom.getTime() + PUBLISHED_AFTER_MS <= now ? [id] : [];
  });
