import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

describe('the model of a conversation that is at work', () => {
  let sandbox: TestSandbox;
  let first: ModelServer;
  let second: ModelServer;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    first = await startModelServer({
      script: () => ({ toolCalls: [{ name: 'terminal', arguments: { command: 'echo one' } }], delayMs: 100 }),
    });
    second = await startModelServer({
      script: [
        { text: 'I go on.\n<function=terminal>\n<parameter=command>echo two</parameter>\n</function>' },
        { text: 'Finished by the second.' },
      ],
    });
  });
  afterAll(async () => {
    await sandbox.close();
    await first.close();
    await second.close();
  });

  it('is switched between two steps: the next is the other model’s, in its own manner of calling tools, and the run goes on', async () => {
    const id = randomUUID();
    const llm = (server: ModelServer, more: object = {}) => ({
      model: 'openai/scripted',
      base_url: server.url,
      api_key: 'sk-of-one',
      ...more,
    });
    const workspace = { working_dir: sandbox.workspace, kind: 'LocalWorkspace' };
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: llm(first) },
      workspace,
      max_iterations: 500,
      stuck_detection: false,
    });
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'work' }],
      run: true,
    });
    await until('it works', () => first.requests.length >= 2);
    const switched = await sandbox.call('POST', `/api/conversations/${id}/switch_llm`, {
      llm: llm(second, { model: 'other/one', native_tool_calling: false }),
    });
    expect(switched).toMatchObject({ status: 200, body: { success: true } });
    const info = await until('it is finished', async () => {
      const { body } = await sandbox.call<{
        execution_status: string;
        agent: { llm: { model: string } };
        stats: object;
      }>('GET', `/api/conversations/${id}`);
      return body.execution_status === 'finished' ? body : null;
    });
    expect(info).toMatchObject({ agent: { llm: { model: 'other/one' } } });
    expect(second.requests.map(({ body }) => [body.model, body['tools']])).toEqual([
      ['other/one', undefined],
      ['other/one', undefined],
    ]);
    expect(JSON.stringify(second.requests[1]?.body)).toContain('EXECUTION RESULT of [terminal]');
  });

  it('keeps the key that it has when the new one comes without, and takes it to no other address', async () => {
    const id = randomUUID();
    const workspace = { working_dir: sandbox.workspace, kind: 'LocalWorkspace' };
    const at = (server: ModelServer, more: object = {}) => ({ model: 'm', base_url: server.url, ...more });
    const third = await startModelServer({ script: () => ({ text: 'Done.' }) });
    const fourth = await startModelServer({ script: () => ({ text: 'Done.' }) });
    const said = async (server: ModelServer): Promise<unknown> => {
      const count = server.requests.length;
      await sandbox.call('POST', `/api/conversations/${id}/events`, {
        role: 'user',
        content: [{ type: 'text', text: 'work' }],
        run: true,
      });
      return until(
        'the model was asked',
        () => server.requests[count]?.headers['authorization'] ?? (server.requests.length > count ? 'none' : null),
      );
    };
    try {
      await sandbox.call('POST', '/api/conversations', {
        conversation_id: id,
        agent: { llm: at(third, { api_key: 'sk-of-three' }) },
        workspace,
      });
      await sandbox.call('POST', `/api/conversations/${id}/switch_llm`, { llm: at(third) });
      expect(await said(third)).toBe('Bearer sk-of-three');
      await sandbox.call('POST', `/api/conversations/${id}/switch_llm`, { llm: at(fourth) });
      expect(await said(fourth)).toBe('none');
    } finally {
      await third.close();
      await fourth.close();
    }
  });

  it('refuses what is no model, and stays as it is', async () => {
    const id = randomUUID();
    const workspace = { working_dir: sandbox.workspace, kind: 'LocalWorkspace' };
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: first.url } },
      workspace,
    });
    expect(
      (await sandbox.call('POST', `/api/conversations/${id}/switch_llm`, { llm: { base_url: second.url } })).status,
    ).toBe(400);
    expect(
      (await sandbox.call('POST', `/api/conversations/${randomUUID()}/switch_llm`, { llm: { model: 'x' } })).status,
    ).toBe(404);
    expect((await sandbox.call('GET', `/api/conversations/${id}`)).body).toMatchObject({
      agent: { llm: { model: 'openai/scripted' } },
    });
  });
});
