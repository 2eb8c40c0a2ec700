import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { type ModelList } from '@slipway/contracts/organizations';
import { ConversationApp, type User } from '../testing/conversation-app.js';

describe('the model of a conversation', () => {
  let app: ConversationApp;
  let user: User;
  let other: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
    other = await app.user();
    await profile(other, { name: 'theirs', apiKey: 'sk-theirs-0123456789' });
  });
  afterAll(() => app?.close());

  const at = (who: User, path: string): string => `/api/v1/orgs/${who.orgId}/${path}`;
  const profile = async (who: User, body: object): Promise<string> => {
    const made = await app.http<{ id: string }>(who, 'POST', at(who, 'llm-profiles'), {
      model: 'openai/gpt-x',
      ...body,
    });
    expect(made.status).toBe(201);
    return made.body.id;
  };
  const models = async (who: User): Promise<ModelList['data']> =>
    (await app.http<ModelList>(who, 'GET', at(who, 'models'))).body.data;
  const create = (who: User, model?: string) =>
    app.http<{ id: string; model: string; code?: string; detail?: string }>(who, 'POST', at(who, 'conversations'), {
      prompt: 'x',
      ...(model === undefined ? {} : { model }),
    });

  it('may be a profile of the organization’s own: it is listed without its key, and no other organization’s is known', async () => {
    await profile(user, { name: 'ours', apiKey: 'sk-ours-0123456789' });
    expect(await models(user)).toEqual([
      { id: 'profile/ours', label: 'ours (openai/gpt-x)', demo: false, default: false, profile: true },
      { id: DEMO_MODEL, label: expect.any(String), demo: true, default: true },
    ]);
    expect(await create(user, 'profile/ours')).toMatchObject({ status: 201, body: { model: 'profile/ours' } });
    const [foreign, missing] = [await create(user, 'profile/theirs'), await create(user, 'profile/never')];
    for (const [name, answer] of [
      ['theirs', foreign],
      ['never', missing],
    ] as const)
      expect(answer).toMatchObject({
        status: 404,
        body: { code: 'model.unknown', detail: `There is no model "profile/${name}".` },
      });
  });

  it('is the default profile when none is named, unless the settings say another; without either the gateway’s', async () => {
    expect((await create(user)).body.model).toBe(DEMO_MODEL);
    const id = await profile(user, { name: 'usual', default: true });
    expect((await create(user)).body.model).toBe('profile/usual');
    expect((await models(user)).filter((each) => each.default).map((each) => each.id)).toEqual(['profile/usual']);
    expect((await app.http(user, 'PATCH', at(user, 'settings'), { defaultModel: 'profile/ours' })).status).toBe(200);
    expect((await create(user)).body.model).toBe('profile/ours');
    expect((await app.http(user, 'PATCH', at(user, 'settings'), { defaultModel: null })).status).toBe(200);
    expect((await app.http(user, 'DELETE', at(user, `llm-profiles/${id}`))).status).toBe(204);
    expect((await create(user)).body.model).toBe(DEMO_MODEL);
  });

  it('is switched at any time: stored, in the log and in the audit, once; a running one gets it by a job, a paused one is not started', async () => {
    const { id } = (await create(user)).body;
    const change = (model: string) =>
      app.http<{ model: string; code?: string }>(user, 'POST', app.path(user, id, '/model'), { model });
    const state = async () =>
      (
        await app.owner.query<{ model: string; applied: string; queues: string[] | null; audited: number }>(
          `SELECT model, checkpoint ->> 'model' AS applied, (SELECT array_agg(queue ORDER BY queue) FROM app.outbox WHERE key = $1::text) AS queues,
             (SELECT count(*)::int FROM app.audit_entry WHERE action = 'conversation.set-model' AND target = $1::text) AS audited
           FROM app.conversation WHERE id = $1::uuid`,
          [id],
        )
      ).rows[0];
    await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20) });
    await app.owner.query('DELETE FROM app.outbox');
    for (let time = 0; time < 2; time += 1)
      expect(await change('profile/ours')).toMatchObject({ status: 200, body: { model: 'profile/ours' } });
    expect(await state()).toEqual({
      model: 'profile/ours',
      applied: DEMO_MODEL,
      queues: ['conversation-deliver'],
      audited: 1,
    });
    expect((await app.log(id)).map(({ event }) => event)).toMatchObject([
      { kind: 'ConversationStateUpdateEvent', key: 'model', value: 'profile/ours' },
    ]);
    await app.owner.query('DELETE FROM app.outbox');
    await app.owner.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1`, [
      id,
    ]);
    expect((await change(DEMO_MODEL)).status).toBe(200);
    expect(await state()).toEqual({ model: DEMO_MODEL, applied: DEMO_MODEL, queues: null, audited: 2 });
    expect(await change('profile/theirs')).toMatchObject({ status: 404, body: { code: 'model.unknown' } });
    expect(await app.http(other, 'POST', app.path(other, id, '/model'), { model: DEMO_MODEL })).toMatchObject({
      status: 404,
      body: { code: 'resource.not-found' },
    });
    expect((await state())?.audited).toBe(2);
  });
});
