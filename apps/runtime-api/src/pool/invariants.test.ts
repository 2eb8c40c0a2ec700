import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc, { type RunDetails } from 'fast-check';
import { STEPS } from '../failpoints.js';
import { activateClaim } from '../sessions/sessions.queries.js';
import { InvariantWatch, Violation } from '../testing/pool-invariants.js';
import { type Operation, PoolWorld, REPLICAS } from '../testing/pool-world.js';

/** Something that happens to the world, at one moment. */
type Event =
  | { readonly kind: 'together'; readonly operations: readonly Operation[] }
  | { readonly kind: (typeof ACCIDENTS)[number]; readonly which: number };

const ACCIDENTS = [
  'sandbox-dies',
  'sandbox-unreachable',
  'mark-lost',
  'deadlines-pass',
  'leases-pass',
  'places-pass',
  'new-template',
  'workspace-lost',
] as const;
const crashAt = fc.option(fc.integer({ min: 1, max: 12 }), { freq: 2 });
const where = { crashAt, replica: fc.nat(REPLICAS - 1) };
const waitMs = fc.constantFrom(0, 0, 60);
const whose = { org: fc.constantFrom('org_a', 'org_b'), session: fc.constantFrom('s1', 's2', 's3') };
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      ...whose,
      body: fc.constantFrom('x', 'x', 'x', 'y'),
      waitMs,
      ...where,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('pause' as const, 'stop' as const, 'resume' as const),
      ...whose,
      ...where,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'fill' as const,
        'fill' as const,
        'reap' as const,
        'renew' as const,
        'expire' as const,
        'expire' as const,
      ),
      ...where,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('lease' as const, 'lease' as const, 'serve' as const, 'note' as const),
      ...where,
    }),
  },
);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('together' as const),
      operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(...ACCIDENTS),
      which: fc.nat(7),
    }),
  },
);

type Deed = Operation extends infer O ? (O extends unknown ? Omit<O, 'crashAt'> : never) : never;

/** Histories tried. */
const HISTORIES = 40;
const key = (of: { org: string; session: string }): string => `${of.org}/${of.session}`;

describe('the warm pool, whatever dies between any two steps', () => {
  let world: PoolWorld;
  let details: RunDetails<[Event[]]>;
  let found: Violation | null = null;
  const seen = { activations: 0, answers: 0, removals: 0, mismatches: 0, late: 0 };

  beforeAll(async () => {
    world = await PoolWorld.open();
    const property = fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 12 }), async (events) => {
      await world.reset();
      const watch = new InvariantWatch(world);
      try {
        await world.run({ kind: 'fill', crashAt: null });
        for (const one of events) {
          await happen(world, watch, one);
          await watch.check();
        }
        world.farm.unreachable.clear();
        await world.settle();
        await watch.checkSettled();
      } catch (error) {
        if (error instanceof Violation) found = error;
        throw error;
      } finally {
        for (const { kind } of world.farm.history) {
          seen.activations += kind === 'activated' ? 1 : 0;
          seen.removals += kind === 'removed' ? 1 : 0;
        }
      }
    });
    details = await fc.check(property, { numRuns: HISTORIES, endOnFailure: false });
    if (details.failed && found === null) throw details.errorInstance;
  });
  afterAll(() => world.close());

  async function happen(at: PoolWorld, watch: InvariantWatch, what: Event): Promise<void> {
    const names = [...at.farm.sandboxes.keys()];
    const name = names[('which' in what ? what.which : 0) % Math.max(1, names.length)] ?? '';
    switch (what.kind) {
      case 'sandbox-dies':
        at.farm.end(name);
        for (const [session, { url }] of watch.answered) if (url.endsWith(`/${name}`)) watch.answered.delete(session);
        return;
      case 'sandbox-unreachable':
        at.farm.unreachable.add(name);
        return;
      case 'mark-lost':
        await at.loseMark(what.which);
        return;
      case 'deadlines-pass':
        await at.passTime('deadlines');
        return;
      case 'leases-pass':
        await at.passTime('leases');
        return;
      case 'places-pass':
        await at.passTime('places');
        return;
      case 'workspace-lost': {
        // That of a paused session: the node with it is gone.
        const { rows } = await at.owner.query<{ ref: string }>(
          `SELECT workspace_ref AS ref FROM runtime.session WHERE status = 'paused' AND workspace_ref IS NOT NULL`,
        );
        const ref = rows[what.which % Math.max(1, rows.length)]?.ref;
        if (ref === undefined || at.farm.sandboxes.has(ref)) return;
        at.farm.workspaces.delete(ref);
        watch.lost.add(ref);
        return;
      }
      case 'new-template':
        at.template = `template-${what.which}`;
        await at.savePool();
        return;
      case 'together': {
        // Whoever asks for the end of a session does not count on its sandbox any more, whether or not he gets an
        // answer.
        for (const one of what.operations)
          if (one.kind === 'pause' || one.kind === 'stop') watch.answered.delete(key(one));
        const ending = new Set(
          what.operations.flatMap((one) => (one.kind === 'pause' || one.kind === 'stop' ? [key(one)] : [])),
        );
        const results = await Promise.all(what.operations.map((one) => at.run(one)));
        await at.quiet();
        results.forEach((result, index) => {
          const one = what.operations[index];
          if (result.result === 'refused' && result.code === 'idempotency.mismatch') seen.mismatches += 1;
          if (result.result === 'refused' && result.code === 'sandbox.no-capacity') seen.late += 1;
          if (one === undefined || !('org' in one) || result.result !== 'answered' || result.status !== 'running')
            return;
          seen.answers += 1;
          if (!ending.has(key(one)))
            watch.answered.set(key(one), { org: one.org, session: one.session, url: result.url });
        });
      }
    }
  }

  const holds = (invariant: string): void => {
    if (found?.invariant === invariant)
      throw new Error(
        `${found.message}\nafter ${JSON.stringify(details.counterexample?.[0])}\nseed ${details.seed}, path ${details.counterexamplePath}`,
      );
  };

  it('I1: a slot is bound to at most one claim, for ever', () => holds('I1'));
  it('I2: a sandbox accepts activation from at most one claim ever, and no second one ever tries', () => holds('I2'));
  it('I3: a claim owns at most one live slot, and a session at most one live claim', () => holds('I3'));
  it('I7: only doomed and releasing slots are deleted, and only the sandbox with their uid', () => holds('I7'));
  it('I8: blank slots never exceed the target, at any instant', () => holds('I8'));
  it("I9: an organization's count is the number of its live claims, and never over its cap", () => holds('I9'));
  it("I11: a sandbox that was answered to a client stays that client's through every crash", () => holds('I11'));
  it('I12: after recovery nothing is left half-done: no slot between states, no sandbox without a row, no session without its sandbox', () =>
    holds('I12'));

  it('I14: a sandbox gets its secrets only after its claim is committed', () => holds('I14'));
  it('I18: whose a sandbox is stands on it in the end, whoever died while it was noted', () => holds('I18'));

  it('is not vacuous: the histories crashed, activated, removed, answered, refused and let wait', () => {
    expect(details.numRuns).toBe(HISTORIES);
    const { activations, removals, answers, mismatches, late } = seen;
    // The rarest comes about fifteen times.
    for (const [what, count] of Object.entries({
      crashes: world.crashes,
      activations,
      removals,
      answers,
      mismatches,
      late,
    }))
      expect({ what, seen: count > 0 }).toEqual({ what, seen: true });
  });

  it('I4: the same session and body get the same sandbox; another body gets 422 and changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ body: fc.constantFrom('x', 'y'), crashAt }), { minLength: 2, maxLength: 6 }),
        async (starts) => {
          await world.reset();
          new InvariantWatch(world);
          await world.run({ kind: 'fill', crashAt: null });
          const results = await Promise.all(
            starts.map((start) => world.run({ kind: 'start', org: 'org_a', session: 's', ...start })),
          );
          await world.quiet();
          // A statement that a dead process had sent still comes to its end.
          await world.quiet();
          const answers = results.flatMap((result, index) =>
            result.result === 'answered' ? [{ url: result.url, body: starts[index]?.body }] : [],
          );
          expect(new Set(answers.map((answer) => `${answer.url} ${answer.body}`)).size).toBeLessThanOrEqual(1);
          const { rows } = await world.owner.query('SELECT * FROM runtime.claim');
          expect(rows.length).toBe(1);
          const rowsBefore = await snapshot(world);
          const winner = answers[0]?.body ?? starts.find((start) => start.crashAt !== null)?.body;
          const other = await world.run({ kind: 'start', org: 'org_a', session: 's', body: 'z', crashAt: null });
          expect(other).toEqual({ result: 'refused', code: 'idempotency.mismatch' });
          expect(await snapshot(world)).toEqual(rowsBefore);
          expect(winner).toBeDefined();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a caller that has gone gets no sandbox, which would never be released', async () => {
    await world.reset();
    await world.run({ kind: 'fill', crashAt: null });
    const before = await snapshot(world);
    expect(await world.runForNobody({ kind: 'start', org: 'org_a', session: 's', body: 'x', crashAt: null })).toEqual({
      result: 'refused',
      code: 'service.unavailable',
    });
    expect(await snapshot(world)).toEqual(before);
  });

  it('I11: a sandbox that accepts its claim after the deadline has ended it is answered to nobody', async () => {
    await world.reset();
    const watch = new InvariantWatch(world);
    await world.run({ kind: 'fill', crashAt: null });
    const checked = world.farm.beforeEffect;
    const activated: string[] = [];
    world.farm.beforeEffect = async (call, body) => {
      await checked(call, body);
      if (call === 'init' && activated.push(body['name'] ?? '') === 1)
        await world.run({ kind: 'expire', crashAt: null, replica: 1 });
    };
    const start = await world.run({ kind: 'start', org: 'org_a', session: 's', body: 'x', crashAt: null });
    await world.quiet();
    expect(activated.length).toBe(2);
    if (start.result !== 'answered') throw new Error(`the start was ${start.result}`);
    expect(start.url.split('/').at(-1)).toBe(activated[1]);
    watch.answered.set('org_a/s', { org: 'org_a', session: 's', url: start.url });
    await watch.check();
  });

  it('I6: a deadline never frees an active slot; an activation that comes after it was taken back fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.boolean(), async (step, reachable) => {
        await world.reset();
        new InvariantWatch(world);
        await world.run({ kind: 'fill', crashAt: null });
        await world.run({ kind: 'start', org: 'org_a', session: 's', body: 'x', crashAt: step });
        // The mark is written beside the answer: with a process that dies then it comes to its end, or was never sent.
        await world.quiet();
        const { rows } = await world.owner.query<{ claim_id: string; epoch: number; state: string; slot_id: string }>(
          'SELECT * FROM runtime.claim',
        );
        const claim = rows[0];
        if (claim === undefined) throw new Error('nothing was bound');
        if (!reachable) world.farm.unreachable.add(`sb-${claim.slot_id}`);
        const receipt = world.farm.sandboxes.get(`sb-${claim.slot_id}`)?.latch.claimId === claim.claim_id;
        // Longer ago than a silent sandbox is waited for.
        await world.owner.query(`UPDATE runtime.claim SET deadline = now() - interval '2 minutes'`);
        await world.run({ kind: 'reap', crashAt: null });
        const late = await activateClaim(world.db, 'org_a', {
          claim: { claimId: claim.claim_id, epoch: claim.epoch },
          address: 'http://late',
          workingDir: '/late',
        });
        const { rows: slots } = await world.owner.query<{ state: string }>(
          'SELECT state FROM runtime.slot WHERE slot_id = $1',
          [claim.slot_id],
        );
        const kept = claim.state === 'active' || (receipt && reachable);
        expect({ late: late !== null, slot: slots[0]?.state }).toEqual(
          kept ? { late: true, slot: 'active' } : { late: false, slot: 'releasing' },
        );
        const foreign = await activateClaim(world.db, 'org_a', {
          claim: { claimId: claim.claim_id, epoch: claim.epoch - 1 },
          address: 'http://late',
          workingDir: '/late',
        });
        expect(foreign).toBeNull();
      }),
      { numRuns: 20 },
    );
  });
});

describe('a process that dies', () => {
  let world: PoolWorld;
  beforeAll(async () => {
    world = await PoolWorld.open();
  });
  afterAll(() => world.close());

  /** What one process does and another one goes on with, so that it comes to every step there is. */
  const LIFE: ReadonlyArray<Deed | 'workspace-lost' | 'template'> = [
    { kind: 'fill' },
    { kind: 'lease' },
    { kind: 'start', org: 'org_a', session: 's1', body: 'x' },
    { kind: 'start', org: 'org_a', session: 's2', body: 'x' },
    { kind: 'start', org: 'org_b', session: 's1', body: 'x' },
    { kind: 'note' },
    { kind: 'start', org: 'org_b', session: 's2', body: 'x' },
    { kind: 'fill' },
    { kind: 'serve' },
    { kind: 'start', org: 'org_b', session: 's2', body: 'x' },
    { kind: 'pause', org: 'org_a', session: 's1' },
    { kind: 'resume', org: 'org_a', session: 's1' },
    { kind: 'pause', org: 'org_a', session: 's2' },
    'workspace-lost',
    { kind: 'resume', org: 'org_a', session: 's2' },
    { kind: 'start', org: 'org_a', session: 's2', body: 'x' },
    'template',
    { kind: 'renew' },
    { kind: 'fill' },
    { kind: 'expire' },
    { kind: 'note' },
  ];

  for (const step of STEPS)
    it(`F2: at ${step} leaves nothing doubled, lost or half-done`, async () => {
      await world.reset();
      world.crashedAt.clear();
      const watch = new InvariantWatch(world);
      for (const what of LIFE) {
        if (what === 'template') {
          world.template = 'second';
          await world.savePool();
        } else if (what === 'workspace-lost') {
          const { rows } = await world.owner.query<{ ref: string }>(
            `SELECT workspace_ref AS ref FROM runtime.session WHERE org_id = 'org_a' AND session_id = 's2'`,
          );
          for (const { ref } of rows) {
            if (ref !== null && !world.farm.sandboxes.has(ref)) world.farm.workspaces.delete(ref);
            watch.lost.add(ref);
          }
        } else {
          if (step === 'reap.released' && what.kind === 'expire')
            world.farm.end([...world.farm.sandboxes.keys()][0] ?? '');
          // Repeated by its caller, as a client does: the first one dies there.
          for (const crashAt of [step, null]) await world.run({ ...what, crashAt } as Operation);
        }
        await watch.check();
      }
      expect([...world.crashedAt]).toContain(step);
      await world.settle();
      await watch.checkSettled();
    });
});

async function snapshot(world: PoolWorld): Promise<unknown> {
  const tables = ['slot', 'claim', 'session', 'org_usage'];
  return Promise.all(
    tables.map(async (table) => (await world.owner.query(`SELECT * FROM runtime.${table} ORDER BY 1`)).rows),
  );
}
