import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jiraVendor, type ScriptedVendor } from '@slipway/integrations/testing';
import { dyingPool } from '../testing/dying-pool.js';
import { TRACKER_ORG, TrackerWorld } from '../testing/tracker-world.js';

/** Statements of one whole job, and some more. */
const MOST_STATEMENTS = 60;

describe('what becomes of a ticket', () => {
  let world: TrackerWorld;
  let vendor: ScriptedVendor;
  let tickets = 0;
  beforeAll(async () => {
    vendor = jiraVendor();
    world = await TrackerWorld.open('jira', vendor, 'JIRAUSER1', {
      defaultRepository: 'https://git.example/acme/usual',
      repositories: [
        { place: 'OTHER', repository: 'https://git.example/acme/other' },
        { place: 'shop', repository: 'https://git.example/acme/shop' },
      ],
    });
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    await world.reset();
    await set({});
  });

  const set = (processors: object): Promise<unknown> =>
    world.owner.query(
      `UPDATE app.integration_connection SET settings = jsonb_set(settings, '{processors}', $1::jsonb)`,
      [JSON.stringify(processors)],
    );
  const commented = (issue: number, comment: number): object => ({
    webhookEvent: 'comment_created',
    issue: {
      id: String(issue),
      key: `SHOP-${issue}`,
      self: `http://jira.test/rest/api/2/issue/${issue}`,
      fields: { summary: 'Total', labels: [], status: { statusCategory: { key: 'new' } } },
    },
    comment: {
      id: String(comment),
      body: '[~slipway] please fix the total.',
      author: { key: 'JIRAUSER1', name: 'ann' },
      created: '2026-11-24T03:00:00Z',
    },
  });
  const begin = async (): Promise<string> => {
    tickets += 1;
    const { outcome, conversationId } = await world.take(commented(tickets, tickets * 100));
    expect(outcome).toBe('done conversation-started');
    await world.hears(conversationId);
    return conversationId;
  };
  const pull = async (conversationId: string, state: string): Promise<void> => {
    const { rowCount } = await world.owner.query('UPDATE app.pull_request SET state = $2 WHERE conversation_id = $1', [
      conversationId,
      state,
    ]);
    if (rowCount !== 0) return;
    await world.owner.query(
      `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, wanted, number, url, state, publish)
       VALUES ($1, $2, $3, 'gitea', 'git.example', 'acme/shop', '{}', 7, 'https://git.example/acme/shop/pulls/7', $4, 'done')`,
      [randomUUID(), TRACKER_ORG, conversationId, state],
    );
  };

  it('is moved when work begins, points to the conversation and its pull request, and has one comment', async () => {
    const id = await begin();
    expect((await world.owner.query('SELECT repository FROM app.conversation WHERE id = $1', [id])).rows).toEqual([
      { repository: 'https://git.example/acme/shop' },
    ]);
    await world.settle(id);
    expect(vendor.ticket).toMatchObject({ state: 'indeterminate', moves: 1 });
    await pull(id, 'open');
    await world.becomes(id, 'running');
    await world.becomes(id, 'finished');
    await world.settle(id);
    expect([...vendor.links]).toEqual([
      [`slipway:conversation:${id}`, `https://slipway.test/tracker/conversations/${id}`],
      ['slipway:pull-request:https://git.example/acme/shop/pulls/7', 'https://git.example/acme/shop/pulls/7'],
    ]);
    expect(world.shown()).toEqual([expect.stringContaining('Slipway has finished.')]);
    // Moved back by a user: it stays there.
    vendor.ticket.state = 'new';
    await world.take(commented(tickets, tickets * 100 + 1));
    await world.settle(id);
    expect(vendor.ticket).toMatchObject({ state: 'new', moves: 1 });
  });

  it('is done after a merge where the connection says so, and never by itself', async () => {
    for (const done of ['never', 'merged']) {
      await world.reset();
      await set({ done });
      const id = await begin();
      await pull(id, 'open');
      await world.settle(id);
      await pull(id, 'merged');
      await world.settle(id);
      expect([done, vendor.ticket.state]).toEqual([done, done === 'merged' ? 'done' : 'indeterminate']);
    }
  });

  it('stays as it is with each of them switched off', async () => {
    await set({ comment: false, link: false, start: false, reaction: false });
    const id = await begin();
    const before = vendor.calls.length;
    await world.settle(id);
    expect(vendor.calls.length).toBe(before);
  });

  it('is each done once, wherever a worker is killed, also between a call and its commit', async () => {
    const id = await begin();
    for (let dies = 0; dies < MOST_STATEMENTS; dies += 1) {
      if (dies % 20 === 0) vendor.fates.push('lost');
      await world.run(id, dyingPool(world.pool, dies)).catch(() => {});
      world.now += 30_000;
    }
    await world.settle(id);
    expect([vendor.ticket.moves, vendor.links.size, vendor.messages.length]).toEqual([1, 1, 1]);
    expect(
      (await world.owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-answer' AND key = $1`, [id]))
        .rowCount,
    ).toBe(0);
  }, 240_000);

  it('waits while Jira is away for an hour or limits calls, and then comes at its pace', async () => {
    const id = await begin();
    const away = world.now;
    vendor.fates = [...Array(20).fill([503, {}]), [429, {}, { 'retry-after': '30' }], [429, {}], [200, { half: true }]];
    await world.settle(id);
    expect(world.now - away).toBeGreaterThan(90_000);
    expect([vendor.ticket.moves, vendor.links.size, vendor.messages.length]).toEqual([1, 1, 1]);
  });

  it('that its workflow does not let on is given up with the reason, and the comment is there all the same', async () => {
    const id = await begin();
    await set({ link: false });
    // The comment first, then where the ticket is, then no way on.
    vendor.fates = ['well', 'well', [200, { transitions: [] }]];
    await world.settle(id);
    expect([vendor.ticket.moves, vendor.messages.length]).toEqual([0, 1]);
    const { rows } = await world.owner.query(`SELECT state, problem FROM app.thread_answer WHERE effect_of = $1`, [id]);
    expect(rows).toEqual([{ state: 'given-up', problem: expect.stringMatching(/^The ticket cannot be moved/) }]);
  });
});
