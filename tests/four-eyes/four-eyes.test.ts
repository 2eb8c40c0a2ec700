import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import fc from 'fast-check';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { ACTORS, type Actor, type Company } from './actors.ts';
import type { Broken } from './broken-rules.ts';
import { World } from './world.ts';

type Step =
  | {
      readonly kind: 'write';
      readonly actor: Actor;
      readonly way: 'api' | 'request' | 'socket';
      readonly replica: number;
    }
  | { readonly kind: 'approve'; readonly actor: Actor; readonly replica: number; readonly always: boolean }
  | { readonly kind: 'resume'; readonly actor: Actor; readonly replica: number }
  | {
      readonly kind: 'force';
      readonly actor: Actor;
      readonly way: 'run' | 'answer' | 'socket' | 'session-key' | 'fork' | 'policy';
      readonly replica: number;
    }
  | { readonly kind: 'approve-in-vain'; readonly actor: Actor; readonly replica: number }
  | { readonly kind: 'lapse'; readonly actor: Actor; readonly replica: number }
  | { readonly kind: 'file'; readonly actor: Actor }
  | { readonly kind: 'forge'; readonly kept: boolean }
  | { readonly kind: 'redeliver' }
  | { readonly kind: 'restart'; readonly replica: number }
  | { readonly kind: 'crash' };

const actor = fc.constantFrom(...ACTORS);
const replica = fc.nat(1);
const way = fc.constantFrom('api', 'request', 'socket');
const force = fc.constantFrom('run', 'answer', 'socket', 'session-key', 'fork', 'policy');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(actor, way, replica)
      .map(([by, how, at]): Step => ({ kind: 'write', actor: by, way: how, replica: at })),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(actor, replica, fc.boolean())
      .map(([by, at, always]): Step => ({ kind: 'approve', actor: by, replica: at, always })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(actor, replica).map(([by, at]): Step => ({ kind: 'resume', actor: by, replica: at })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(actor, force, replica)
      .map(([by, how, at]): Step => ({ kind: 'force', actor: by, way: how, replica: at })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(actor, replica).map(([by, at]): Step => ({ kind: 'approve-in-vain', actor: by, replica: at })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(actor, replica).map(([by, at]): Step => ({ kind: 'lapse', actor: by, replica: at })),
  },
  { weight: 2, arbitrary: actor.map((by): Step => ({ kind: 'file', actor: by })) },
  { weight: 2, arbitrary: fc.boolean().map((kept): Step => ({ kind: 'forge', kept })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'redeliver' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'crash' }) },
  { weight: 1, arbitrary: replica.map((at): Step => ({ kind: 'restart', replica: at })) },
);
const steps = fc.array(step, { minLength: 6, maxLength: 12 });
/** Conversations of one run, each with a sandbox of its own; seconds each. */
const RUNS = 6;
/**
 * A broken variant is found within so many: a step that comes before the agent has begun with the one before it shows
 * nothing.
 */
const BROKEN_TRIALS = 4;

/** What found the faults of before, and each way around: tried first, every time. */
const KNOWN: Readonly<Record<'insider' | 'authors' | 'thief' | 'steering' | 'makers', readonly Step[]>> = {
  insider: [
    { kind: 'resume', actor: 'ada', replica: 0 },
    { kind: 'resume', actor: 'ada', replica: 1 },
    { kind: 'force', actor: 'ada', way: 'run', replica: 0 },
    { kind: 'force', actor: 'ada', way: 'session-key', replica: 0 },
    { kind: 'crash' },
    { kind: 'restart', replica: 0 },
    { kind: 'resume', actor: 'ada', replica: 0 },
    { kind: 'approve', actor: 'robot', replica: 0, always: false },
    { kind: 'approve', actor: 'dave', replica: 1, always: false },
  ],
  authors: [
    { kind: 'write', actor: 'bob', way: 'request', replica: 0 },
    { kind: 'write', actor: 'carol', way: 'api', replica: 1 },
    { kind: 'approve', actor: 'bob', replica: 0, always: false },
    { kind: 'write', actor: 'robot', way: 'api', replica: 0 },
    { kind: 'approve', actor: 'carol', replica: 1, always: false },
    { kind: 'approve', actor: 'bob', replica: 1, always: true },
    { kind: 'approve', actor: 'dave', replica: 0, always: true },
    { kind: 'approve', actor: 'dave', replica: 0, always: false },
    { kind: 'approve', actor: 'bob', replica: 1, always: false },
  ],
  thief: [
    { kind: 'forge', kept: false },
    { kind: 'resume', actor: 'ada', replica: 0 },
    { kind: 'approve-in-vain', actor: 'dave', replica: 0 },
    { kind: 'restart', replica: 0 },
    { kind: 'forge', kept: true },
    { kind: 'forge', kept: true },
    { kind: 'approve-in-vain', actor: 'carol', replica: 1 },
    { kind: 'approve', actor: 'carol', replica: 0, always: false },
    { kind: 'approve-in-vain', actor: 'dave', replica: 1 },
  ],
  steering: [
    { kind: 'write', actor: 'carol', way: 'request', replica: 0 },
    { kind: 'lapse', actor: 'carol', replica: 0 },
    { kind: 'approve', actor: 'carol', replica: 1, always: false },
    { kind: 'approve', actor: 'dave', replica: 0, always: false },
    { kind: 'file', actor: 'bob' },
    { kind: 'approve', actor: 'bob', replica: 0, always: false },
    { kind: 'approve', actor: 'carol', replica: 1, always: false },
  ],
  makers: [
    { kind: 'write', actor: 'made', way: 'api', replica: 0 },
    { kind: 'approve', actor: 'bob', replica: 0, always: false },
    { kind: 'approve', actor: 'dave', replica: 1, always: false },
    { kind: 'write', actor: 'made', way: 'request', replica: 1 },
    { kind: 'approve', actor: 'carol', replica: 1, always: false },
    { kind: 'approve', actor: 'made', replica: 0, always: false },
    { kind: 'approve', actor: 'dave', replica: 0, always: false },
  ],
};

describe('four eyes', () => {
  let app: ConversationApp;
  let company: Company;
  /** Of all runs, so that the property does not hold because nothing was ever approved. */
  let carriedOut = 0;
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    company = await companyOf(app);
  });
  afterAll(() => app?.close());

  async function perform(world: World, step: Step): Promise<void> {
    switch (step.kind) {
      case 'write':
        return world.write(step.actor, step.way, step.replica);
      case 'approve':
        return world.approve(step.actor, step.replica, step.always);
      case 'resume':
        // Repeated while the agent works, as the one who found it did.
        return void (await Promise.all(
          [0, 1, 2].map((again) => world.api(step.actor, step.replica + again, 'POST', '/resume')),
        ));
      case 'force':
        return world.force(step.actor, step.way, step.replica);
      case 'approve-in-vain':
        return world.approveInVain(step.actor, step.replica);
      case 'lapse':
        return world.lapse(step.actor, step.replica);
      case 'file':
        return world.steerByFile(step.actor);
      case 'forge':
        return world.forge(step.kept);
      case 'redeliver':
        return world.deliver();
      case 'restart':
        return app.restart(step.replica);
      case 'crash':
        return world.crash();
    }
  }

  async function faultsAfter(sequence: readonly Step[], broken: Broken | null): Promise<string[]> {
    const world = await World.open(app, company, broken);
    try {
      for (const step of sequence) {
        await perform(world, step);
        await world.settled();
      }
      carriedOut += world.approvals;
      return await world.faults();
    } finally {
      await world.close();
    }
  }

  it('carry out no action without a second user, whatever is done in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => expect(await faultsAfter(sequence, null)).toEqual([])),
      {
        numRuns: RUNS,
        examples: Object.values(KNOWN).map((sequence) => [[...sequence]] as [Step[]]),
        endOnFailure: true,
      },
    );
    expect(carriedOut).toBeGreaterThan(0);
  });

  for (const [broken, sequence] of [
    ['run-accepts', KNOWN.insider],
    ['no-key-means-app', KNOWN.insider],
    ['last-author-only', KNOWN.authors],
    ['log-is-believed', KNOWN.thief],
    ['entry-with-event', KNOWN.thief],
    ['files-steer-nobody', KNOWN.steering],
    ['any-approval-ends-asking', KNOWN.steering],
    ['one-step-of-makers', KNOWN.makers],
  ] as const)
    it(`would be seen to fail with ${broken}`, async () => {
      let found: string[] = [];
      for (let trial = 0; trial < BROKEN_TRIALS && found.length === 0; trial += 1)
        found = await faultsAfter(sequence, broken);
      expect(found.length).toBeGreaterThan(0);
    });
});

/**
 * Ada's organization under four eyes, with three more members, a service account of Bob's whose key Carol made, and one
 * that this one has made.
 */
async function companyOf(app: ConversationApp): Promise<Company> {
  const people = {
    ada: await app.user('Ada'),
    bob: await app.user('Bob'),
    carol: await app.user('Carol'),
    dave: await app.user('Dave'),
  };
  const { orgId } = people.ada;
  for (const { userId } of [people.bob, people.carol, people.dave])
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      orgId,
      userId,
    ]);
  await app.owner.query(
    `UPDATE app.org SET settings = settings || '{"fourEyes": true, "confirmation": "always"}' WHERE id = $1`,
    [orgId],
  );
  const account = async (name: string, role: string, maker: { user?: User; key?: string }): Promise<string> => {
    const made = await app.http<{ id: string }>(
      maker.user ?? null,
      'POST',
      `/api/v1/orgs/${orgId}/service-accounts`,
      { name, role },
      headersOf(maker.key),
    );
    if (made.status !== 201) throw new Error(`service account: ${made.status} ${JSON.stringify(made.body)}`);
    return made.body.id;
  };
  const keyOf = async (
    serviceAccountId: string,
    scopes: readonly string[],
    maker: { user?: User; key?: string },
  ): Promise<string> => {
    const body = { name: 'k', scopes, serviceAccountId };
    const key = await app.http<{ token: string }>(
      maker.user ?? null,
      'POST',
      `/api/v1/orgs/${orgId}/api-keys`,
      body,
      headersOf(maker.key),
    );
    if (key.status !== 201) throw new Error(`key: ${key.status} ${JSON.stringify(key.body)}`);
    return key.body.token;
  };
  const robot = await account('Robot', 'admin', { user: people.bob });
  const robotKey = await keyOf(robot, [...ROLE_PERMISSIONS.member, 'service-account:write', 'api-key:manage'], {
    user: people.carol,
  });
  const made = await account('Made', 'member', { key: robotKey });
  const madeKey = await keyOf(made, ['conversation:read', 'conversation:write', 'sandbox:access'], { key: robotKey });
  return { people, accounts: { robot: { id: robot, key: robotKey }, made: { id: made, key: madeKey } } };
}

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };
