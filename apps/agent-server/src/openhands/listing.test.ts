import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import { TestSandbox } from '../testing/sandbox.js';

describe('what clients of OpenHands list', () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
  });
  afterAll(() => sandbox?.close());

  const get = async <T>(url: string): Promise<T> => {
    const { status, body } = await sandbox.call<T>('GET', url);
    expect({ url, status }).toEqual({ url, status: 200 });
    return body;
  };
  const make = async (): Promise<ConversationInfo> =>
    (
      await sandbox.call<ConversationInfo>('POST', '/api/conversations', {
        agent: { llm: { model: 'openai/none', base_url: 'http://127.0.0.1:9/v1', num_retries: 0 } },
        workspace: { working_dir: sandbox.workspace },
      })
    ).body;

  it('are the hooks of the project, in OpenHands’ form, or none', async () => {
    const hooks = async () =>
      (await sandbox.call<{ hook_config: unknown }>('POST', '/api/hooks', { project_dir: sandbox.workspace })).body
        .hook_config;
    expect(await hooks()).toBeNull();
    await mkdir(path.join(sandbox.workspace, '.openhands'));
    const claude = {
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'sh guard.sh' }] }] },
    };
    await writeFile(path.join(sandbox.workspace, '.openhands/hooks.json'), JSON.stringify(claude));
    const none = { post_tool_use: [], user_prompt_submit: [], session_start: [], session_end: [], stop: [] };
    const guard = { type: 'command', command: 'sh guard.sh', timeout: 60, max_iterations: 10, tools: [] };
    expect(await hooks()).toEqual({ ...none, pre_tool_use: [{ matcher: 'Bash', hooks: [guard] }] });
    await writeFile(path.join(sandbox.workspace, '.openhands/hooks.json'), '{');
    expect(await hooks()).toBeNull();
  });

  it('are the kinds of sub-agents, the workspace, the runtime of a conversation that there is, and features that are always empty here', async () => {
    const { body } = await sandbox.call<{ agents: Array<{ name: string; is_builtin: boolean }> }>(
      'POST',
      '/api/sub-agents',
      {},
    );
    expect(body.agents.map(({ name, is_builtin }) => [name, is_builtin])).toEqual([
      ['general-purpose', true],
      ['explore', true],
    ]);
    expect((await sandbox.call<object>('POST', '/api/sub-agents', { load_builtin: false })).body).toEqual({
      agents: [],
    });
    expect(await get('/api/workspaces')).toMatchObject({
      workspaces: [{ path: sandbox.workspace }],
      workspaceParents: [],
    });
    const { id } = await make();
    expect(await get(`/api/conversations/${id}/runtime`)).toEqual({
      runtime_status: 'available',
      can_resume: false,
      runtime_error: null,
    });
    expect((await sandbox.call('GET', '/api/conversations/0197c0de-0000-7000-8000-000000000001/runtime')).status).toBe(
      404,
    );
    expect(await get('/api/profiles')).toEqual({ profiles: [], active_profile: null });
    expect(await get('/api/skills/installed')).toEqual({ skills: [] });
  });

  it('are conversations by status, in either order, page by page without a hole', async () => {
    const made = [await make(), await make(), await make()].map(({ id }) => id);
    const all = await get<{ items: ConversationInfo[] }>('/api/conversations/search?sort_order=CREATED_AT');
    expect(all.items.map(({ id }) => id)).toEqual(expect.arrayContaining(made));
    // The one field that OpenHands' schema of a model requires.
    for (const { agent } of all.items) expect(agent).toMatchObject({ llm: { is_subscription: false } });
    const pages: string[] = [];
    for (let page: string | null = ''; page !== null; ) {
      const from: string = page === '' ? '' : `&page_id=${page}`;
      const answer: { items: ConversationInfo[]; next_page_id: string | null } = await get(
        `/api/conversations/search?limit=1&sort_order=CREATED_AT_DESC${from}`,
      );
      pages.push(...answer.items.map(({ id }) => id));
      page = answer.next_page_id;
    }
    expect(pages).toEqual(all.items.map(({ id }) => id).reverse());
    expect(await get('/api/conversations/count?status=idle')).toBe(all.items.length);
    expect(await get('/api/conversations/count?status=running')).toBe(0);
    for (const wrong of ['status=asleep', 'sort_order=TITLE', 'limit=0', 'page_id=none'])
      expect((await sandbox.call('GET', `/api/conversations/search?${wrong}`)).status).toBe(400);
  });
});
