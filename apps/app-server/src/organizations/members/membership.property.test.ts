import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Sessions } from '@slipway/auth';
import { ROLES, type Role } from '@slipway/contracts/organizations';
import fc from 'fast-check';
import { Company } from '../../testing/company.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const PEOPLE = 5;
/** From the least to the most: each allows what the one before does. */
const RANK: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 };
const administers = (role: Role | undefined): boolean => role === 'admin' || role === 'owner';

type Act =
  | { readonly do: 'set-role'; readonly by: number; readonly who: number; readonly role: Role }
  | { readonly do: 'remove'; readonly by: number; readonly who: number }
  | { readonly do: 'transfer'; readonly by: number; readonly who: number }
  | { readonly do: 'leave'; readonly by: number }
  | { readonly do: 'invite'; readonly by: number; readonly who: number; readonly role: Role };

const index = fc.nat(PEOPLE - 1);
const role = fc.constantFrom(...ROLES);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant('set-role' as const), by: index, who: index, role }),
  fc.record({ do: fc.constant('remove' as const), by: index, who: index }),
  fc.record({ do: fc.constant('transfer' as const), by: index, who: index }),
  fc.record({ do: fc.constant('leave' as const), by: index }),
  fc.record({ do: fc.constant('invite' as const), by: index, who: index, role }),
);

/** What should be answered, and what is then so. */
function expected(roles: ReadonlyMap<number, Role>, step: Act): { status: number; roles: Map<number, Role> } {
  const after = new Map(roles);
  const own = roles.get(step.by);
  const refuse = (status: number) => ({ status, roles: after });
  if (own === undefined) return refuse(404);
  const lastOwner = (who: number): boolean =>
    roles.get(who) === 'owner' && [...roles].every(([each, has]) => each === who || has !== 'owner');
  if (step.do === 'leave') {
    if (lastOwner(step.by)) return refuse(409);
    after.delete(step.by);
    return { status: 200, roles: after };
  }
  const theirs = roles.get(step.who);
  if (step.do === 'transfer') {
    if (own !== 'owner') return refuse(403);
    if (theirs === undefined) return refuse(404);
    if (step.who !== step.by) after.set(step.by, 'admin').set(step.who, 'owner');
    return { status: 200, roles: after };
  }
  if (!administers(own)) return refuse(403);
  if (step.do === 'invite') {
    if (RANK[step.role] > RANK[own]) return refuse(403);
    if (theirs === undefined) after.set(step.who, step.role);
    return { status: 200, roles: after };
  }
  if (theirs === undefined) return refuse(404);
  if (RANK[theirs] > RANK[own]) return refuse(403);
  if (step.do === 'remove') {
    if (lastOwner(step.who)) return refuse(409);
    after.delete(step.who);
    return { status: 200, roles: after };
  }
  if (RANK[step.role] > RANK[own]) return refuse(403);
  if (step.role !== 'owner' && lastOwner(step.who)) return refuse(409);
  after.set(step.who, step.role);
  return { status: 200, roles: after };
}

describe('whatever members do to each other', () => {
  let app: ConversationApp;
  let people: User[];
  beforeAll(async () => {
    app = await ConversationApp.start({ env: { RATE_WRITES_PER_MINUTE: '1000000', RATE_READS_PER_MINUTE: '1000000' } });
    people = await Promise.all(Array.from({ length: PEOPLE }, (_, at) => app.user(`Person ${at}`)));
    for (const [at, { userId }] of people.entries())
      await app.owner.query('UPDATE app.user_account SET email = $2, email_verified = true WHERE id = $1', [
        userId,
        `p${at}@model.example`,
      ]);
  });
  afterAll(() => app?.close());

  const perform = async (company: Company, step: Act): Promise<number> => {
    const by = people[step.by] as User;
    const who = 'who' in step ? (people[step.who] as User) : by;
    switch (step.do) {
      case 'set-role':
        return (await app.http(by, 'PATCH', company.path(`/members/${who.userId}`), { role: step.role })).status;
      case 'remove':
        return (await app.http(by, 'DELETE', company.path(`/members/${who.userId}`))).status;
      case 'transfer':
        return (await app.http(by, 'POST', company.path('/transfer'), { userId: who.userId })).status;
      case 'leave':
        return (await app.http(by, 'POST', company.path('/leave'))).status;
      case 'invite': {
        const answer = await app.http<{ data: Array<{ link: string | null }> }>(
          by,
          'POST',
          company.path('/invitations'),
          {
            emails: [`p${step.who}@model.example`],
            role: step.role,
          },
        );
        const link = answer.status === 200 ? answer.body.data[0]?.link : null;
        if (link !== null && link !== undefined)
          await app.http(who, 'POST', `/api/v1/invitations/${link.split('/').at(-1)}/accept`);
        return answer.status;
      }
    }
  };

  it('leaves it as the rules say: an owner always, no role above that of who gave it, and outsiders with 404', async () => {
    // Every server knows a session for a second: a test that waited for that would wait all the time, so each step is
    // one of a server that has just begun.
    const sessions = (app.replicas[0] as (typeof app.replicas)[number]).app.get(Sessions, { strict: false });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 8, maxLength: 14 }), async (steps) => {
        const company = await Company.open(app);
        await app.owner.query('UPDATE app.membership SET user_id = $2 WHERE org_id = $1', [
          company.org.id,
          (people[0] as User).userId,
        ]);
        let roles = new Map<number, Role>([[0, 'owner']]);
        for (const step of steps) {
          for (const { sessionId } of people) sessions.forget(sessionId);
          const model = expected(roles, step);
          expect([step, await perform(company, step)]).toEqual([step, model.status]);
          roles = model.roles;
          expect(await company.roles()).toEqual(
            Object.fromEntries([...roles].map(([at, has]) => [(people[at] as User).userId, has])),
          );
          expect([...roles.values()]).toContain('owner');
        }
      }),
      { numRuns: 15 },
    );
  });

  it('at the same moment leaves an owner all the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 10 }), async (steps) => {
        const company = await Company.open(app);
        for (const [at, { userId }] of people.entries())
          await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
            company.org.id,
            userId,
            at < 3 ? 'owner' : 'admin',
          ]);
        await app.owner.query('DELETE FROM app.membership WHERE org_id = $1 AND user_id = $2', [
          company.org.id,
          company.owner.userId,
        ]);
        const statuses = await Promise.all(steps.map((step) => perform(company, step)));
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        expect(Object.values(await company.roles())).toContain('owner');
      }),
      { numRuns: 10 },
    );
  });
});
