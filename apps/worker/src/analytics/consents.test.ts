import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { analyticsEventId } from '@slipway/analytics';
import fc from 'fast-check';
import { AnalyticsWorld } from './testing/analytics-world.js';

const RUNS = 25;

type Step =
  | {
      readonly kind:
        | 'act'
        | 'make'
        | 'org-yes'
        | 'org-no'
        | 'user-yes'
        | 'user-no'
        | 'browser-no'
        | 'browser-silent'
        | 'all-yes'
        | 'up';
    }
  | { readonly kind: 'send'; readonly kill: boolean }
  | { readonly kind: 'down'; readonly answer: 401 | 402 | 429 | 500 | 'reset' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('act', 'make').map((kind) => ({ kind: kind as 'act' })) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), kill: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('org-yes', 'user-yes', 'browser-silent').map((kind) => ({ kind: kind as 'org-yes' })),
  },
  { weight: 4, arbitrary: fc.constantFrom('all-yes', 'up').map((kind) => ({ kind: kind as 'up' })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('org-no', 'user-no', 'browser-no').map((kind) => ({ kind: kind as 'org-no' })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('down' as const),
      answer: fc.constantFrom(401 as const, 402 as const, 429 as const, 500 as const, 'reset' as const),
    }),
  },
);

jest.setTimeout(240_000);

describe('the consents to analytics', () => {
  let world: AnalyticsWorld;
  beforeAll(async () => {
    world = await AnalyticsWorld.open();
  });
  afterAll(() => world?.close());

  it('decide alone what arrives: each event that was allowed from its making to its sending, once, through any outage and death', async () => {
    let total = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
        world.posthog.clear();
        await world.owner.query('TRUNCATE app.analytics_event, app.analytics_position, app.analytics_member');
        await world.owner.query('UPDATE app.org SET analytics_since = NULL');
        const { org, user } = await world.signUp();
        const signal = AbortSignal.timeout(60_000);
        const consents = { org: false, user: false, browser: true };
        const isAllowed = (): boolean => consents.org && consents.user && consents.browser;
        let isDown = false;
        /** The model: unread, pending and delivered events. Ids are the actions' own. */
        let unread: Array<{ readonly n: number; readonly allowed: boolean }> = [];
        let waiting: number[] = [];
        const expected: number[] = [];
        let acted = 0;
        const numbers = new Map<string, number>();

        const change = async (which: keyof typeof consents, value: boolean): Promise<void> => {
          consents[which] = value;
          if (which === 'org') await world.allowOrg(org, value);
          else if (which === 'user') await world.allowUser(user, value);
          else await world.refuseByBrowser(user, !value);
          if (value || which === 'browser') return;
          waiting = [];
          // What was done before a new yes is never made.
          unread = unread.map((each) => ({ ...each, allowed: false }));
        };
        const send = async (kill: boolean): Promise<void> => {
          const posthog = world.posthogSender();
          const sender = world.sender({
            send: async (events) => {
              const result = await posthog.send(events);
              if (kill) throw new Error('killed');
              return result;
            },
          });
          // A refusal by the browser deletes when it is met.
          if (!isAllowed()) waiting = [];
          else if (!isDown) expected.push(...waiting.splice(0, kill ? 200 : waiting.length));
          await sender.run(signal).catch((error: Error) => expect(error.message).toBe('killed'));
        };
        const opening: Step[] = [
          { kind: 'org-yes' },
          { kind: 'user-yes' },
          { kind: 'act' },
          { kind: 'make' },
          { kind: 'send', kill: false },
        ];
        for (const each of [
          ...opening,
          ...steps,
          { kind: 'up' } as const,
          { kind: 'make' } as const,
          { kind: 'send', kill: false } as const,
        ]) {
          if (each.kind === 'act') {
            acted += 1;
            unread.push({ n: acted, allowed: consents.org && consents.user });
            const { rows } = await world.owner.query<{ id: string }>(
              `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, action, target, created_at) VALUES (gen_random_uuid(), $1, 'user', $2, 'api-key.create', 'x', clock_timestamp()) RETURNING id`,
              [org, user],
            );
            numbers.set(rows[0]?.id ?? '', acted);
          } else if (each.kind === 'make') {
            await world.maker().run(signal);
            // An organization that does not allow it is not read; with the browser's no its entries are passed.
            if (!consents.org) continue;
            if (isAllowed()) waiting.push(...unread.filter(({ allowed }) => allowed).map(({ n }) => n));
            unread = [];
          } else if (each.kind === 'send') await send(each.kill);
          else if (each.kind === 'up') [isDown, world.posthog.answers] = [false, [200]];
          else if (each.kind === 'all-yes')
            for (const which of ['org', 'user', 'browser'] as const) await change(which, true);
          else if (each.kind === 'down') [isDown, world.posthog.answers] = [true, [each.answer]];
          else
            await change(
              each.kind.split('-')[0] as keyof typeof consents,
              each.kind.endsWith('yes') || each.kind.endsWith('silent'),
            );
        }
        total += expected.length;
        const keys = [...world.posthog.events.values()].filter(({ event }) => event === 'api_key_created');
        expect(keys.length).toBe(new Set(expected).size);
        const arrived = [...numbers]
          .filter(([id]) => world.posthog.events.has(analyticsEventId(id, 'api_key_created')))
          .map(([, n]) => n);
        expect(arrived.sort((a, b) => a - b)).toEqual([...new Set(expected)].sort((a, b) => a - b));
      }),
      { numRuns: RUNS },
    );
    // One of each run at least: the property says something.
    expect(total).toBeGreaterThanOrEqual(RUNS);
  });
});
