import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { PERMISSIONS, type Permission, ROLE_PERMISSIONS, ROLES, type Role } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import fc from 'fast-check';
import { makeApiKey } from './api-key-token.js';
import { ApiKeyUses } from './api-key-uses.js';
import { ApiKeys } from './api-keys.js';

const ids = createIds(systemClock);
const START = Date.UTC(2026, 10, 22);

/**
 * One key of one owner, as `app.find_api_key` would answer it: the rows are the model's, the checks are the real ones.
 */
class Rows {
  now = START;
  role: Role | null = 'owner';
  revoked = false;
  expiresAt = START + 3_600_000;
  notBefore: number | null = null;
  queries = 0;
  answers: Promise<void> = Promise.resolve();
  readonly id = ids.prefixed('key');
  readonly made = makeApiKey('dev', this.id);
  readonly keys: ApiKeys;

  constructor(readonly scopes: readonly Permission[]) {
    const query = async (): Promise<{ rows: unknown[] }> => {
      this.queries += 1;
      const found =
        this.role === null || this.revoked || this.expiresAt <= this.now
          ? []
          : [
              {
                id: this.id,
                org_id: 'org_1',
                org_slug: 'o',
                org_name: 'O',
                org_kind: 'company',
                owner_kind: 'user',
                owner_id: 'usr_1',
                owner_label: 'Ada',
                owner_email: null,
                owner_email_verified: false,
                owner_terms_version: null,
                role: this.role,
                scopes: [...this.scopes, 'of-a-newer:version'],
                hash: this.made.hash,
                not_before: this.notBefore === null ? null : new Date(this.notBefore),
                expires_at: new Date(this.expiresAt),
              },
            ];
      await this.answers;
      return { rows: found };
    };
    this.keys = new ApiKeys({ query } as unknown as SqlPool, { now: () => new Date(this.now) });
  }
}

describe('ApiKeys', () => {
  it('asks no database for what is no token, and once a second for one that is, however many ask at once', async () => {
    const rows = new Rows(['org:read']);
    const { token } = rows.made;
    for (const broken of [
      '',
      'x',
      token.slice(0, -1),
      `${token}0`,
      token.replace(/.$/, token.endsWith('0') ? '1' : '0'),
    ])
      expect(await rows.keys.find(broken)).toBeNull();
    expect(rows.queries).toBe(0);
    const found = await Promise.all(Array.from({ length: 50 }, () => rows.keys.find(token)));
    expect(found.every((key) => key?.keyId === rows.id)).toBe(true);
    rows.now += 999;
    await rows.keys.find(token);
    expect(rows.queries).toBe(1);
    rows.now += 1;
    await rows.keys.find(token);
    expect(rows.queries).toBe(2);
  });

  it('refuses another secret of the same key, and remembers for a second that there is none', async () => {
    const rows = new Rows(['org:read']);
    expect(await rows.keys.find(makeApiKey('dev', rows.id).token)).toBeNull();
    expect(await rows.keys.find(rows.made.token)).not.toBeNull();
    rows.revoked = true;
    rows.now += 1_000;
    for (let index = 0; index < 5; index += 1) expect(await rows.keys.find(rows.made.token)).toBeNull();
    expect(rows.queries).toBe(2);
  });

  it('does not remember what was being read while the key was changed here', async () => {
    const rows = new Rows(['org:read']);
    let answer = (): void => {};
    rows.answers = new Promise((resolve) => {
      answer = resolve;
    });
    const reading = rows.keys.find(rows.made.token);
    rows.revoked = true;
    rows.keys.forget(rows.id);
    answer();
    await reading;
    expect(await rows.keys.find(rows.made.token)).toBeNull();
  });

  it('works neither before its time nor from its end on, to the millisecond and without asking again', async () => {
    const rows = new Rows(['org:read']);
    rows.notBefore = START + 100;
    rows.expiresAt = START + 200;
    const works = async (at: number): Promise<boolean> => {
      rows.now = START + at;
      return (await rows.keys.find(rows.made.token)) !== null;
    };
    expect([await works(0), await works(99), await works(100), await works(199), await works(200)]).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(rows.queries).toBe(1);
  });

  it('gives never more than the scopes, and a second after any change never more than the owner holds, whatever happens in whatever order', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('role' as const), role: fc.option(fc.constantFrom(...ROLES)) }),
      fc.record({ do: fc.constant('revoke' as const) }),
      fc.record({ do: fc.constant('rotate' as const), overlapMs: fc.constantFrom(0, 500, 5_000) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 400, 1_000, 3_000, 4_000_000) }),
      fc.record({ do: fc.constant('use' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...PERMISSIONS], { minLength: 1 }),
        fc.array(step, { maxLength: 30 }),
        async (scopes, steps) => {
          const rows = new Rows(scopes);
          /** What the owner may have held within the last second. */
          let held: Array<{ until: number; permissions: ReadonlySet<string> }> = [];
          const present = (): ReadonlySet<string> =>
            new Set(
              rows.role === null || rows.revoked || rows.expiresAt <= rows.now ? [] : ROLE_PERMISSIONS[rows.role],
            );
          const before = (): void => void held.push({ until: rows.now + 1_000, permissions: present() });
          for (const each of steps) {
            before();
            if (each.do === 'role') rows.role = each.role;
            if (each.do === 'revoke') rows.revoked = true;
            if (each.do === 'rotate') rows.expiresAt = Math.min(rows.expiresAt, rows.now + each.overlapMs);
            if (each.do === 'wait') rows.now += each.ms;
            held = held.filter(({ until }) => until > rows.now);
            const key = await rows.keys.find(rows.made.token);
            const granted = [...(key?.permissions ?? [])];
            const allowed = [present(), ...held.map(({ permissions }) => permissions)];
            expect(granted.filter((permission) => !scopes.includes(permission))).toEqual([]);
            expect(allowed.some((permissions) => granted.every((permission) => permissions.has(permission)))).toBe(
              true,
            );
            if (rows.expiresAt <= rows.now - 1_000) expect(key).toBeNull();
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('ApiKeyUses', () => {
  it('writes the newest use of every key in one statement, a key no more often than every ten seconds, and again what could not be written', async () => {
    let now = START;
    let fails = false;
    const written: Array<Array<{ id: string; route: string }>> = [];
    const query = async ({ values: [json] }: { values: [string] }): Promise<void> => {
      if (fails) throw new Error('away');
      written.push(JSON.parse(json));
    };
    const uses = new ApiKeyUses(
      { query } as unknown as SqlPool,
      { now: () => new Date(now) },
      createLogger('test', 'silent'),
    );
    const [a, b] = [randomUUID(), randomUUID()];
    uses.note(a, '127.0.0.1', 'first');
    uses.note(a, '127.0.0.1', 'second');
    uses.note(b, null, 'other');
    await uses.write();
    expect(written).toEqual([
      [expect.objectContaining({ id: a, route: 'second' }), expect.objectContaining({ id: b, route: 'other' })],
    ]);
    uses.note(a, null, 'third');
    now += 9_999;
    await uses.write();
    expect(written.length).toBe(1);
    now += 1;
    fails = true;
    await uses.write();
    fails = false;
    await uses.write();
    expect(written.slice(1)).toEqual([[expect.objectContaining({ id: a, route: 'third' })]]);
    uses.note(a, null, 'last');
    await uses.close();
    expect(written.at(-1)).toEqual([expect.objectContaining({ id: a, route: 'last' })]);
  });
});
