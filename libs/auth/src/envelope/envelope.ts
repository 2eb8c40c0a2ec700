import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { open, seal } from '../secret-box/sealing.js';
import type { SecretBox } from '../secret-box/secret-box.js';
import { addDataKey, findDataKey, newestDataKey, type WrappedKey, wrapContext } from './data-key.queries.js';

/** What a value is stored as: the bytes, and which of its organization's data keys they are under. */
export interface Sealed {
  readonly bytes: Uint8Array;
  readonly keyVersion: number;
}

/**
 * How long the newest version of an organization is taken for the newest. Milliseconds; a version that was replaced is
 * kept for longer than that, so what is sealed meanwhile opens.
 */
export const NEWEST_FRESH_MS = 60_000;
/** Data keys that are held unwrapped; the one that was not used for the longest time goes first. */
const MAX_HELD = 2_000;

/**
 * Values of one organization under its own data key, which is kept wrapped by the master key. `context` names where a
 * value belongs and is not stored: a value that is moved to another organization or another place does not open. A data
 * key is never taken from a transaction that could still be undone.
 */
export class Envelope {
  private readonly held = new Map<string, KeyObject>();
  private readonly newest = new Map<string, { version: number; until: number }>();

  constructor(
    private readonly pool: SqlPool,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Under the organization's newest data key; its first is made here. @throws Error when the master key does not open
   * it.
   */
  async seal(orgId: string, text: string, context: string): Promise<Sealed> {
    const now = this.clock.now().getTime();
    const known = this.newest.get(orgId);
    const version = known !== undefined && known.until > now ? known.version : await this.newestVersion(orgId, now);
    return { bytes: seal(await this.key(orgId, version), text, contextOf(orgId, context)), keyVersion: version };
  }

  /** @throws Error when there is no such data key, the master key does not open it, or the value belongs elsewhere. */
  async open(orgId: string, sealed: Sealed, context: string): Promise<string> {
    return open(await this.key(orgId, sealed.keyVersion), sealed.bytes, contextOf(orgId, context));
  }

  /** Another data key for what is sealed from now on; everywhere within `NEWEST_FRESH_MS`. @returns its version. */
  async rotate(orgId: string): Promise<number> {
    const version = await inOrg(this.pool, orgId, async (client) => {
      const last = await newestDataKey(client, orgId);
      const next = (last?.version ?? 0) + 1;
      // A concurrent rotation has made it: one new key is enough.
      await addDataKey(client, orgId, this.fresh(orgId, next));
      return next;
    });
    this.newest.delete(orgId);
    return version;
  }

  private async newestVersion(orgId: string, now: number): Promise<number> {
    const found =
      (await inOrg(this.pool, orgId, (client) => newestDataKey(client, orgId))) ??
      (await inOrg(this.pool, orgId, async (client) => {
        await addDataKey(client, orgId, this.fresh(orgId, 1));
        return newestDataKey(client, orgId);
      }));
    if (found === null) throw new Error('a data key that was made is not there');
    this.hold(orgId, found);
    if (this.newest.size > MAX_HELD) this.newest.clear();
    this.newest.set(orgId, { version: found.version, until: now + NEWEST_FRESH_MS });
    return found.version;
  }

  private async key(orgId: string, version: number): Promise<KeyObject> {
    const held = this.held.get(nameOf(orgId, version));
    if (held !== undefined) return held;
    const found = await inOrg(this.pool, orgId, (client) => findDataKey(client, orgId, version));
    if (found === null) throw new Error(`the organization has no data key ${version}`);
    return this.hold(orgId, found);
  }

  private hold(orgId: string, { version, wrapped }: WrappedKey): KeyObject {
    const name = nameOf(orgId, version);
    const key =
      this.held.get(name) ??
      createSecretKey(Buffer.from(this.box.decrypt(wrapped, wrapContext(orgId, version)), 'base64'));
    this.held.delete(name);
    this.held.set(name, key);
    if (this.held.size > MAX_HELD) this.held.delete(this.held.keys().next().value as string);
    return key;
  }

  private fresh(orgId: string, version: number): WrappedKey {
    return {
      version,
      wrapped: this.box.encrypt(randomBytes(32).toString('base64'), wrapContext(orgId, version)),
      masterId: this.box.id,
    };
  }
}

const nameOf = (orgId: string, version: number): string => `${orgId} ${version}`;
/** Two parts, so that no two pairs give the same text. */
const contextOf = (orgId: string, context: string): string => JSON.stringify([orgId, context]);
