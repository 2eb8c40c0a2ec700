import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Conversation, QueuedMessage } from '@slipway/contracts/conversations';
import { claimInbox } from '@slipway/db/conversations';
import fc from 'fast-check';
import { ConversationApp, executionStatus, type User } from '../testing/conversation-app.js';

type Act =
  | { readonly kind: 'edit' | 'withdraw'; readonly message: number }
  | { readonly kind: 'order'; readonly ids: readonly number[] }
  | { readonly kind: 'turn' }
  | { readonly kind: 'claim' };

const MESSAGES = 5;
const message = fc.nat({ max: MESSAGES - 1 });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('edit' as const, 'withdraw' as const), message }),
  fc.record({ kind: fc.constant('order' as const), ids: fc.uniqueArray(message, { minLength: 1 }) }),
  fc.constant<Act>({ kind: 'turn' }),
  fc.constant<Act>({ kind: 'claim' }),
);
/** Rounds follow each other; within one, everything happens at once. */
const rounds = fc.array(fc.array(act, { minLength: 2, maxLength: 6 }), { minLength: 1, maxLength: 5 });

jest.setTimeout(180_000);

describe('the queue, whatever happens to it at once', () => {
  let app: ConversationApp;
  let user: User;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
  });
  afterAll(() => app?.close());

  it('hands over each message once or withdraws it, in order, with the text of the last change that was granted', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (plan) => {
        const { id } = await app.conversation(user);
        await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20) });
        await app.owner.query(`UPDATE app.inbox_message SET state = 'consumed' WHERE conversation_id = $1`, [id]);
        let seq = 0;
        const status = (value: string) => app.ingest(user, id, [{ producerSeq: ++seq, event: executionStatus(value) }]);
        await status('running');
        const sent: QueuedMessage[] = [];
        for (let index = 0; index < MESSAGES; index += 1)
          sent.push(
            (
              await app.http<QueuedMessage>(
                user,
                'POST',
                app.path(user, id, '/messages'),
                { text: `m${index}` },
                { prefer: 'delivery=after-turn' },
              )
            ).body,
          );
        const granted = new Map(sent.map(({ id: of, text }) => [of, { text, version: 1 }]));
        const withdrawn = new Set<string>();
        const taken: Array<{ id: string; text: string }> = [];
        const take = async () => {
          const { messages } = await claimInbox(app.pool, user.orgId, id);
          for (const each of messages)
            if (!taken.some((before) => before.id === each.id)) taken.push({ id: each.id, text: each.text });
            else expect(taken.find((before) => before.id === each.id)?.text).toBe(each.text);
        };
        let turning = false;
        const run = async (step: Act, name: string): Promise<void> => {
          if (step.kind === 'claim') return take();
          if (step.kind === 'turn') {
            // One sandbox has one turn at a time.
            if (turning) return;
            turning = true;
            await status('finished');
            await status('running');
            turning = false;
            return;
          }
          if (step.kind === 'order') {
            const ids = step.ids.map((index) => (sent[index] as QueuedMessage).id);
            const answer = await app.http(user, 'PUT', app.path(user, id, '/messages/order'), { ids });
            expect([200, 409]).toContain(answer.status);
            return;
          }
          const of = (sent[step.message] as QueuedMessage).id;
          if (step.kind === 'withdraw') {
            const answer = await app.http(user, 'DELETE', app.path(user, id, `/messages/${of}`));
            expect([204, 409]).toContain(answer.status);
            if (answer.status === 204) withdrawn.add(of);
            return;
          }
          const version = granted.get(of)?.version ?? 0;
          const answer = await app.http<QueuedMessage>(user, 'PATCH', app.path(user, id, `/messages/${of}`), {
            text: name,
            version,
          });
          expect([200, 409]).toContain(answer.status);
          if (answer.status === 200) granted.set(of, { text: name, version: version + 1 });
        };
        for (const [round, acts] of plan.entries())
          await Promise.all(acts.map((step, index) => run(step, `edit ${round}/${index}`)));
        const left = (await app.http<Conversation>(user, 'GET', app.path(user, id))).body.queued.filter(
          ({ held }) => held,
        );
        for (let turn = 0; turn <= MESSAGES; turn += 1) {
          await status('finished');
          await take();
          await status('running');
        }
        expect(taken.map(({ id: of }) => of).sort()).toEqual(
          sent
            .map(({ id: of }) => of)
            .filter((of) => !withdrawn.has(of))
            .sort(),
        );
        for (const each of taken) expect(each.text).toBe(granted.get(each.id)?.text);
        // What waited at the end of all changes was taken in that order.
        const waiting = new Set(left.map(({ id: of }) => of));
        expect(taken.map(({ id: of }) => of).filter((of) => waiting.has(of))).toEqual(left.map(({ id: of }) => of));
      }),
      { numRuns: 15 },
    );
  });
});
