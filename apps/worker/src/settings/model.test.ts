import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { llmKeyContext } from '@slipway/auth/envelope';
import type { LlmSettings } from '@slipway/contracts/agent';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('another model for a conversation that has a sandbox', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
    const id = `llm_${randomUUID()}`;
    const { bytes, keyVersion } = await harness.envelope.seal(
      ORG,
      'sk-ours-0123456789',
      llmKeyContext({ id, baseUrl: null }),
    );
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.llm_profile (org_id, id, name, model, sealed_api_key, key_version, created_by, created_by_label) VALUES ($1, $2, 'ours', 'anthropic/claude-x', $3, $4, 'u', 'u')`,
        [ORG, id, bytes, keyVersion],
      ),
    );
  });
  afterAll(() => harness.close());

  const llmOf = (id: string): LlmSettings | null => harness.peers.sessions.get(id)?.sandbox?.llm ?? null;
  /** As app-server stores it. */
  const choose = async (id: string, model: string): Promise<void> => {
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `UPDATE app.conversation SET model = $2, checkpoint = checkpoint || jsonb_build_object('model', coalesce(checkpoint ->> 'model', model)) WHERE id = $1`,
        [id, model],
      ),
    );
    await inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail) VALUES ($1, $2, 'user', 'u', 'u', 'conversation.set-model', $3, '{}')`,
        [randomUUID(), ORG, id],
      ),
    );
    await harness.addJob('conversation-deliver', id);
  };
  const uses = async (id: string): Promise<unknown[]> => {
    const { rows } = await inOrg(harness.pool, ORG, (client) =>
      client.query<{ detail: { name: string; why: string } }>(
        "SELECT detail FROM app.audit_entry WHERE action = 'llm-profile.use' AND target = $1",
        [id],
      ),
    );
    return rows.map(({ detail: { name, why } }) => ({ name, why }));
  };
  const switches = (): number =>
    [...harness.peers.sessions.values()]
      .flatMap((session) => session.sandbox?.settings ?? [])
      .filter(({ settings }) => settings.model !== undefined).length;

  it('is given to the agent once, before the next message, with the profile’s key at the gateway and a new virtual key', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const before = [switches(), llmOf(id)?.api_key] as const;
    await choose(id, 'profile/ours');
    const next = await harness.send(id, 'go on');
    await harness.start(id);
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
    expect(switches()).toBe(before[0] + 1);
    expect(llmOf(id)).toMatchObject({ model: 'anthropic/claude-x' });
    expect(llmOf(id)?.api_key).not.toBe(before[1]);
    // A step that begins before the agent has the new key is made with the old one.
    expect(harness.peers.keyRequests.at(-1)).toMatchObject({
      grace_seconds: 60,
      providers: { anthropic: { apiKey: 'sk-ours-0123456789' } },
    });
    expect(harness.peers.keyRequests.at(-2)).not.toHaveProperty('grace_seconds');
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    expect(JSON.stringify([await harness.log(id), await harness.row(id), llmOf(id)])).not.toContain('sk-ours');
    expect((await harness.row(id)).attempt).toBe(1);
    expect(await uses(id)).toEqual([{ name: 'ours', why: 'switch' }]);
    // Switching away and back counts as a use again; sending twice does not.
    await choose(id, 'gpt');
    await harness.start(id);
    await choose(id, 'profile/ours');
    await harness.start(id);
    expect((await uses(id)).length).toBe(2);
  });

  it('has the use of the profile’s key in the audit once a start', async () => {
    const { id } = await harness.create({ model: 'profile/ours' });
    await harness.start(id);
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect(await uses(id)).toEqual([{ name: 'ours', why: 'start' }]);
  });

  it('keeps the virtual key between two models of the gateway', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    const keys = harness.peers.keyRequests.length;
    await choose(id, 'gpt');
    await harness.start(id);
    expect(llmOf(id)).toEqual({ model: 'gpt', base_url: 'http://127.0.0.1:1/v1' });
    expect(harness.peers.keyRequests.length).toBe(keys);
  });

  it('is given again when the last one was not acknowledged, also when it has become the one from before', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await choose(id, 'gpt');
    let cut = 0;
    harness.peers.onRequest = (request, moment) => {
      if (!request.endsWith('/settings') || moment !== 'after') return;
      cut += 1;
      throw new Error('the answer is lost');
    };
    await expect(harness.start(id)).rejects.toMatchObject({ code: 'sandbox.unreachable' });
    harness.peers.onRequest = () => {};
    expect([cut, llmOf(id)?.model]).toEqual([1, 'gpt']);
    await choose(id, 'demo');
    await harness.start(id);
    expect(llmOf(id)?.model).toBe('demo');
    const times = switches();
    await harness.addJob('conversation-deliver', id);
    await harness.start(id);
    expect([switches(), await harness.jobs(id)]).toEqual([times, []]);
  });

  it('that is chosen while the conversation starts is given at the end of that start', async () => {
    const { id } = await harness.create();
    harness.peers.onRequest = async (request, moment) => {
      if (request !== 'agent POST /api/conversations' || moment !== 'before') return;
      harness.peers.onRequest = () => {};
      await choose(id, 'gpt');
    };
    await harness.start(id);
    expect([llmOf(id)?.model, await harness.jobs(id)]).toEqual(['gpt', []]);
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('that is gone by then is said in the log; the agent keeps its own and gets its messages', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    await choose(id, 'profile/gone');
    const next = await harness.send(id, 'go on');
    await harness.start(id);
    expect(llmOf(id)?.model).toBe('demo');
    expect(harness.peers.messagesOf(id)).toEqual([message, next]);
    expect((await harness.log(id)).filter((event) => event.kind === 'ConversationErrorEvent')).toMatchObject([
      {
        code: 'model.profile-missing',
        detail: 'The agent keeps the model that it has. There is no model profile "gone" any more.',
      },
    ]);
    expect(await harness.jobs(id)).toEqual([]);
  });
});
