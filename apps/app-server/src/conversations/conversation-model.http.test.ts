import { after, before, describe, it } from 'node:test';
import { DEMO_MODEL, type ModelList } from '@slipway/contracts';
import { expect } from 'expect';
import { ConversationApp, type Person } from '../testing/conversation-app.js';

describe('the model of a conversation', () => {
  let app: ConversationApp;
  let person: Person;
  let other: Person;
  before(async () => {
    app = await ConversationApp.start();
    person = await app.person();
    other = await app.person();
    await profile(other, { name: 'theirs', apiKey: 'sk-theirs-0123456789' });
  });
  after(() => app?.close());

  const at = (who: Person, path: string): string => `/api/v1/orgs/${who.orgId}/${path}`;
  const profile = async (who: Person, body: object): Promise<string> => {
    const made = await app.http<{ id: string }>(who, 'POST', at(who, 'llm-profiles'), { model: 'openai/gpt-x', ...body });
    expect(made.status).toBe(201);
    return made.body.id;
  };
  const models = async (who: Person): Promise<ModelList['data']> => (await app.http<ModelList>(who, 'GET', at(who, 'models'))).body.data;
  const create = (who: Person, model?: string) =>
    app.http<{ id: string; model: string; code?: string; detail?: string }>(who, 'POST', at(who, 'conversations'), {
      prompt: 'x',
      ...(model === undefined ? {} : { model }),
    });

  it('may be a profile of the organization’s own: it is listed without its key, and no other organization’s is known', async () => {
    await profile(person, { name: 'ours', apiKey: 'sk-ours-0123456789' });
    expect(await models(person)).toEqual([
      { id: 'profile/ours', label: 'ours (openai/gpt-x)', demo: false, default: false, profile: true },
      { id: DEMO_MODEL, label: expect.any(String), demo: true, default: true },
    ]);
    expect(await create(person, 'profile/ours')).toMatchObject({ status: 201, body: { model: 'profile/ours' } });
    const [foreign, missing] = [await create(person, 'profile/theirs'), await create(person, 'profile/never')];
    for (const [name, answer] of [
      ['theirs', foreign],
      ['never', missing],
    ] as const)
      expect(answer).toMatchObject({ status: 404, body: { code: 'model.unknown', detail: `There is no model "profile/${name}".` } });
  });

  it('is the default profile when none is named, unless the settings say another; without either the gateway’s', async () => {
    expect((await create(person)).body.model).toBe(DEMO_MODEL);
    const id = await profile(person, { name: 'usual', default: true });
    expect((await create(person)).body.model).toBe('profile/usual');
    expect((await models(person)).filter((each) => each.default).map((each) => each.id)).toEqual(['profile/usual']);
    expect((await app.http(person, 'PATCH', at(person, 'settings'), { defaultModel: 'profile/ours' })).status).toBe(200);
    expect((await create(person)).body.model).toBe('profile/ours');
    expect((await app.http(person, 'PATCH', at(person, 'settings'), { defaultModel: null })).status).toBe(200);
    expect((await app.http(person, 'DELETE', at(person, `llm-profiles/${id}`))).status).toBe(204);
    expect((await create(person)).body.model).toBe(DEMO_MODEL);
  });
});
