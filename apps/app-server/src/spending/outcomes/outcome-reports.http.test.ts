import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { ConversationOutcomes, UserOutcomes } from '@slipway/contracts/spending';
import { ada, app, clear, conversation, path, plain, pull, SPAN, settled, setUpOutcomes } from './outcomes-setup.js';

jest.setTimeout(180_000);

describe('reports of outcomes', () => {
  setUpOutcomes();

  it('200: a report of each user: what they began, spent this month, this year and ever, and had merged', async () => {
    await clear();
    const id = randomUUID();
    await conversation(ada.orgId, { ...plain, id, user: ada.userId }, '2020-01-02T03:04:05Z');
    await pull(ada.orgId, { ...settled, number: 1, lead: id, linked: [id] });
    const month = new Date().toISOString().slice(0, 7);
    for (const [day, cost] of [
      [`${month}-01`, '0.1'],
      ['2020-01-02', '5'],
    ])
      await app.owner.query(`INSERT INTO app.usage_day VALUES ($1, $2, $3, '', 'm', 'Seen', 1, 0, 1, 0, 1, $4, 0)`, [
        ada.orgId,
        day,
        ada.userId,
        cost,
      ]);
    const { data } = UserOutcomes.parse((await app.http(ada, 'GET', path('/users'))).body);
    expect(data).toEqual([
      {
        ...{
          user: { id: ada.userId, label: 'Ada' },
          conversations: 1,
          firstAt: '2020-01-02T03:04:05.000Z',
          lastAt: '2020-01-02T03:04:05.000Z',
        },
        ...{ monthUsd: '0.1', yearUsd: '0.1', lifeUsd: '5.1', pullRequestsPublished: 1, pullRequestsMerged: 1 },
      },
    ]);
  });

  it('200: a report of each conversation, also of one that was deleted', async () => {
    await clear();
    const id = randomUUID();
    await conversation(ada.orgId, { ...plain, id });
    await app.owner.query(
      `UPDATE app.conversation_outcome SET last_at = created_at + interval '90 seconds', prompt_tokens = 7 WHERE conversation_id = $1`,
      [id],
    );
    await pull(ada.orgId, { ...settled, state: 'open', number: 1, lead: id, linked: [id] });
    const { data } = ConversationOutcomes.parse((await app.http(ada, 'GET', path(`/conversations?${SPAN}`))).body);
    expect(data).toMatchObject([
      {
        conversation: { id, title: null },
        user: { label: 'Seen' },
        durationMs: 90_000,
        promptTokens: 7,
        costUsd: '1',
        pullRequestsPublished: 1,
        pullRequestsMerged: 0,
      },
    ]);
  });
});
