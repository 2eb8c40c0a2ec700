import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { Conversation } from '@slipway/contracts/conversations';
import { until } from '@slipway/testing';
import { OpenStack } from './open-stack.ts';
import { finish } from './script-book.ts';
import type { Talk } from './talk.ts';

/** Worker sweeps unqueued outbox jobs when they are five seconds old. Milliseconds, on a busy machine. */
const RECONCILED_MS = 60_000;

jest.setTimeout(240_000);

describe('run settings, changed while it has the conversation', () => {
  let open: OpenStack;
  let talk: Talk;
  beforeAll(async () => {
    open = await OpenStack.open();
    talk = await open.talk('run-settings', [finish()]);
    await talk.ended('finished');
  });
  afterAll(() => open.close());

  const change = (maxIterations: number): Promise<Response> =>
    open.user.fetch(`${talk.path}/run-settings`, { method: 'PATCH', json: { maxIterations } });
  const stored = async (): Promise<number | null> =>
    ((await (await open.user.fetch(talk.path)).json()) as Conversation).maxIterations;
  const ofTheAgent = async (): Promise<number> => {
    const sandbox = await open.sandboxOf(talk);
    const headers = { 'x-session-api-key': sandbox.session_api_key };
    const response = await fetch(`${sandbox.url}/api/conversations/${talk.id}`, {
      headers,
      signal: AbortSignal.timeout(5_000),
    });
    return Number(((await response.json()) as ConversationInfo)['max_iterations']);
  };
  const version = async (): Promise<{ version: number; acknowledged: number }> => {
    const [row] = await open.query<{ version: number; acknowledged: number }>(
      `SELECT c.settings_version + o.settings_version AS version, coalesce((c.checkpoint ->> 'settingsVersion')::int, 0) AS acknowledged
       FROM app.conversation c JOIN app.org o ON o.id = c.org_id WHERE c.id = $1`,
      [talk.id],
    );
    if (row === undefined) throw new Error('the conversation is gone');
    return row;
  };

  it('by many at once: the agent has what was committed last, and the log and the row say the same', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => change(20 + round * 8 + index)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const last = await stored();
      await until(
        'the agent has acknowledged the last',
        async () => (await version()).acknowledged === (await version()).version,
        RECONCILED_MS,
      );
      expect(await ofTheAgent()).toBe(last);
      const [said] = await open.query<{ value: number }>(
        `SELECT (event -> 'value' ->> 'maxIterations')::int AS value FROM app.event WHERE conversation_id = $1 AND event ->> 'key' = 'run_settings' ORDER BY seq DESC LIMIT 1`,
        [talk.id],
      );
      expect(said?.value).toBe(last);
    }
  });

  it('while app-server is killed in the middle of it: what was committed reaches the agent all the same, and what was not does not', async () => {
    for (let round = 0; round < 3; round += 1) {
      const before = await version();
      const asked = Promise.allSettled(Array.from({ length: 6 }, (_, index) => change(100 + round * 6 + index)));
      await until('one is committed', async () => (await version()).version > before.version);
      process.kill(open.stack.pidOf('app-server'), 'SIGKILL');
      await asked;
      await until('app-server is back', async () => (await open.user.fetch(talk.path)).status === 200, RECONCILED_MS);
      await until(
        'the agent has acknowledged the last',
        async () => {
          const now = await version();
          return now.acknowledged === now.version;
        },
        RECONCILED_MS,
      );
      expect(await ofTheAgent()).toBe(await stored());
    }
  });
});
