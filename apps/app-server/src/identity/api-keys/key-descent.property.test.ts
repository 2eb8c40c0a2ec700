import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiKey, CreatedApiKey, ServiceAccount } from '@slipway/contracts/identity';
import type { Permission } from '@slipway/contracts/organizations';
import fc from 'fast-check';
import { Company } from '../../testing/company.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

const HOUR_MS = 3_600_000;
const SCOPES: Permission[] = [
  'api-key:read',
  'api-key:write',
  'api-key:manage',
  'service-account:read',
  'service-account:write',
  'org:read',
];

/** A key as its history has it: with which key it was made, and whether anybody has revoked it or one of those. */
interface Made {
  readonly id: string;
  readonly token: string;
  readonly endsAt: number;
  readonly parent: Made | null;
  revoked: boolean;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('make' as const),
      with: fc.nat(7),
      for: fc.constantFrom('self' as const, 'account' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rotate' as const),
      with: fc.nat(7),
      which: fc.nat(7),
      overlapSeconds: fc.constantFrom(0, 600),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revoke' as const), which: fc.nat(7) }) },
);

const make = (maker: number) => ({ do: 'make' as const, with: maker, for: 'self' as const });
const rotate = (caller: number, which: number) => ({
  do: 'rotate' as const,
  with: caller,
  which,
  overlapSeconds: 0 as const,
});

describe('what a stolen key of one hour makes', () => {
  let app: ConversationApp;
  let company: Company;
  let account: ServiceAccount;
  let thief: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    company = await Company.open(app, 'Robbed');
    thief = await company.member('admin');
    account = (
      await app.http<ServiceAccount>(company.owner, 'POST', company.path('/service-accounts'), {
        name: 'bot',
        role: 'admin',
      })
    ).body;
  });
  afterAll(() => app?.close());

  const keys = (rest = ''): string => company.path(`/api-keys${rest}`);
  const stolen = async (): Promise<CreatedApiKey> =>
    makeKey(app, thief, SCOPES, { expiresAt: new Date(Date.now() + HOUR_MS).toISOString() }, company.org.id);
  const works = async (token: string): Promise<boolean> =>
    (await withKey(app.url, token, 'GET', company.path())).status === 200;

  it('ends no later than that key, and an end beyond it is refused by name', async () => {
    const parent = await stolen();
    const year = new Date(Date.now() + 365 * 24 * HOUR_MS).toISOString();
    const refused = await withKey(app.url, parent.token, 'POST', keys(), {
      name: 'x',
      scopes: ['org:read'],
      expiresAt: year,
    });
    expect([refused.status, refused.body['fields']]).toEqual([400, [expect.objectContaining({ path: 'expiresAt' })]]);
    const child = await withKey<CreatedApiKey>(app.url, parent.token, 'POST', keys(), {
      name: 'x',
      scopes: ['org:read'],
    });
    expect(child.body).toMatchObject({ expiresAt: parent.expiresAt, madeByKey: parent.id });
    const own = await withKey<CreatedApiKey>(app.url, parent.token, 'POST', keys(`/${parent.id}/rotate`), {
      overlapSeconds: 0 as const,
    });
    expect(Date.parse(own.body.expiresAt)).toBeLessThanOrEqual(Date.parse(parent.expiresAt));
    expect(await works(child.body.token)).toBe(true);
  });

  it('is revoked with it and says so in the audit, also when the membership of its owner ends', async () => {
    const parent = await stolen();
    const child = await withKey<CreatedApiKey>(app.url, parent.token, 'POST', keys(), {
      name: 'x',
      scopes: SCOPES,
      serviceAccountId: account.id,
    });
    const grandchild = await withKey<CreatedApiKey>(app.url, child.body.token, 'POST', keys(), {
      name: 'y',
      scopes: ['org:read'],
    });
    expect((await app.http(company.owner, 'DELETE', keys(`/${parent.id}`))).status).toBe(204);
    expect([await works(child.body.token), await works(grandchild.body.token)]).toEqual([false, false]);
    const { rows } = await app.owner.query(
      "SELECT detail -> 'alsoRevoked' AS also FROM app.audit_entry WHERE action = 'api-key.revoke' AND target = $1",
      [parent.id],
    );
    expect([...rows[0].also].sort()).toEqual([child.body.id, grandchild.body.id].sort());

    const leaver = await company.member('admin');
    const theirs = await makeKey(app, leaver, SCOPES, {}, company.org.id);
    const left = await withKey<CreatedApiKey>(app.url, theirs.token, 'POST', keys(), {
      name: 'z',
      scopes: ['org:read'],
      serviceAccountId: account.id,
    });
    await app.http(company.owner, 'DELETE', company.path(`/members/${leaver.userId}`));
    expect((await app.http<ApiKey>(company.owner, 'GET', keys(`/${left.body.id}`))).body.state).toBe('revoked');
  });

  it('is revoked with a key that its thief has rotated at once, again and again: the owner sees what comes of it and ends the whole line', async () => {
    const robbed = await stolen();
    let last: CreatedApiKey = robbed;
    for (let times = 0; times < 3; times += 1) {
      const next = await withKey<CreatedApiKey>(app.url, last.token, 'POST', keys(`/${last.id}/rotate`), {
        overlapSeconds: 0 as const,
      });
      expect(next.body.madeByKey).toBe(last.id);
      last = next.body;
    }
    const seen = async () => (await app.http<ApiKey>(company.owner, 'GET', keys(`/${robbed.id}`))).body;
    expect([await works(last.token), await seen()]).toMatchObject([true, { state: 'revoked', descendants: 1 }]);
    expect((await app.http(company.owner, 'DELETE', keys(`/${robbed.id}`))).status).toBe(204);
    expect([await works(last.token), await seen()]).toMatchObject([false, { descendants: 0 }]);
    const { rows } = await app.owner.query(
      "SELECT detail -> 'alsoRevoked' AS also FROM app.audit_entry WHERE action = 'api-key.revoke' AND target = $1",
      [robbed.id],
    );
    expect(rows).toEqual([{ also: [last.id] }]);
  });

  it('does not escape a revocation by rotating itself meanwhile', async () => {
    for (let times = 0; times < 5; times += 1) {
      const robbed = await stolen();
      const first = (
        await withKey<CreatedApiKey>(app.url, robbed.token, 'POST', keys(`/${robbed.id}/rotate`), { overlapSeconds: 0 })
      ).body;
      const [rotated] = await Promise.all([
        withKey<CreatedApiKey>(app.url, first.token, 'POST', keys(`/${first.id}/rotate`), { overlapSeconds: 0 }),
        app.http(company.owner, 'DELETE', keys(`/${robbed.id}`)),
      ]);
      expect(await works(rotated.body.token ?? first.token)).toBe(false);
    }
  });

  it('never works on after a revocation of any key that it descends from, and never ends after one, whatever is made and rotated in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const made: Made[] = [];
        const root = await stolen();
        made.push({ id: root.id, token: root.token, endsAt: Date.parse(root.expiresAt), parent: null, revoked: false });
        const at = (index: number): Made => made[index % made.length] as Made;
        const took = (answer: Answer<CreatedApiKey>, parent: Made): void => {
          if (answer.status === 201 || answer.status === 200)
            made.push({
              id: answer.body.id,
              token: answer.body.token,
              endsAt: Date.parse(answer.body.expiresAt),
              parent,
              revoked: false,
            });
        };
        for (const each of steps) {
          if (each.do === 'revoke') {
            // A rotation may have ended it at once: what it made ends all the same.
            const key = at(each.which);
            expect((await app.http(company.owner, 'DELETE', keys(`/${key.id}`))).status).toBe(204);
            key.revoked = true;
          } else if (each.do === 'make') {
            const parent = at(each.with);
            const body = {
              name: 'x',
              scopes: SCOPES,
              ...(each.for === 'account' ? { serviceAccountId: account.id } : {}),
            };
            took(await withKey<CreatedApiKey>(app.url, parent.token, 'POST', keys(), body), parent);
          } else {
            const parent = at(each.with);
            took(
              await withKey<CreatedApiKey>(app.url, parent.token, 'POST', keys(`/${at(each.which).id}/rotate`), {
                overlapSeconds: each.overlapSeconds,
              }),
              parent,
            );
          }
        }
        for (const key of made) {
          const ancestors: Made[] = [];
          for (let up = key.parent; up !== null; up = up.parent) ancestors.push(up);
          for (const ancestor of ancestors) expect(key.endsAt).toBeLessThanOrEqual(ancestor.endsAt);
          if (key.revoked || ancestors.some(({ revoked }) => revoked))
            expect([key.id, await works(key.token)]).toEqual([key.id, false]);
        }
        // With all that came of it: an owner has a bounded number of keys.
        await app.http(company.owner, 'DELETE', keys(`/${root.id}`));
      }),
      {
        numRuns: 25,
        examples: [
          // Its child's successor is made with it, and then it is rotated.
          [[make(0), make(1), rotate(0, 1), rotate(0, 0), { do: 'revoke', which: 1 }]],
          // A child rotates its maker, and is its ancestor then.
          [[make(0), rotate(1, 0), { do: 'revoke', which: 0 }]],
          [[make(0), rotate(1, 0), { do: 'revoke', which: 2 }]],
        ],
      },
    );
  });
});
