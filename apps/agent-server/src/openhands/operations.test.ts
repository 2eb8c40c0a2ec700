import { describe, expect, it } from '@jest/globals';
import { TestSandbox } from '../testing/sandbox.js';
import { type OpenHandsOperation, operationsOfOpenHands } from './operations.js';

/** The note of those that are asked for by a name that nothing has. */
const NONE = 'There is none by any name (404).';

describe('the operations of OpenHands', () => {
  it('are each listed once', () => {
    const names = operationsOfOpenHands.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(177);
  });

  it('are answered, or refused with a word on what takes their place, as they are listed', async () => {
    const sandbox = await TestSandbox.start();
    try {
      const { body: conversation } = await sandbox.call<{ id: string; leaf_event_id: string }>(
        'POST',
        '/api/conversations',
        {
          // No server answers there.
          agent: { llm: { model: 'openai/none', base_url: 'http://127.0.0.1:9/v1', num_retries: 0 } },
          workspace: { working_dir: sandbox.workspace },
        },
      );
      const values: Record<string, string> = {
        conversation_id: conversation.id,
        runtime_conversation_id: conversation.id,
        event_id: conversation.leaf_event_id,
      };
      const wrong: string[] = [];
      const look = async ({ method, path, state, note }: OpenHandsOperation): Promise<void> => {
        const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'some');
        const response = await fetch(`${sandbox.url}${url}`, {
          method,
          headers: { 'x-session-api-key': sandbox.sessionKey, 'content-type': 'application/json' },
          ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }),
        });
        const { status } = response;
        // Some answers are files.
        const isJson = response.headers.get('content-type')?.includes('json') === true;
        const body = isJson
          ? ((await response.json()) as { code?: string; detail?: string } | null)
          : await response.arrayBuffer().then(() => null);
        const refused = status === 501 && body?.detail === note;
        // A path that leads nowhere. An event of commands with this id there is none.
        const named = path.includes('/bash_events/{') || path === '/api/settings/secrets/{name}' || note === NONE;
        const missing = body?.code === 'resource.not-found' && !named;
        if (state === 'not-here' ? !refused : missing || status === 501)
          wrong.push(`${method} ${path}: ${status} ${JSON.stringify(body)?.slice(0, 200)}`);
      };
      const deletes = ({ method }: OpenHandsOperation): boolean => method === 'DELETE';
      await Promise.all(operationsOfOpenHands.filter((operation) => !deletes(operation)).map(look));
      await Promise.all(operationsOfOpenHands.filter(deletes).map(look));
      expect(wrong).toEqual([]);
    } finally {
      await sandbox.close();
    }
  });
});
