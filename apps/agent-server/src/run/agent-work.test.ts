import { describe, expect, it } from '@jest/globals';
import { agentWorkOf } from '@slipway/contracts/agent';
import { operationsOfOpenHands } from '../openhands/operations.js';
import { TestSandbox } from '../testing/sandbox.js';

/**
 * Routes of conversations that cause no model call on the caller's account. The answer to what waits lets the run of
 * its author go on; agent-server refuses what is the app's alone.
 */
const NO_WORK = [
  '/confirmation_policy',
  '/events/respond_to_confirmation',
  '/fork',
  '/interrupt',
  '/navigate',
  '/pause',
  '/secrets',
  '/security_analyzer',
  '/switch_llm',
];

const shown = (path: string): string => path.replace(/\{[^}]+\}/, 'ID');

describe('routes with a budget check in sandbox-gateway', () => {
  it('are all that make a model work: a new one is put on one side or the other', async () => {
    const sandbox = await TestSandbox.start();
    try {
      const { body } = await sandbox.call<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
      const posts = Object.entries(body.paths).flatMap(([path, methods]) => ('post' in methods ? [path] : []));
      // Refused with 501.
      const notHere = new Set(
        operationsOfOpenHands.filter(({ state }) => state === 'not-here').map(({ path }) => shown(path)),
      );
      const ofConversations = posts.filter(
        (path) =>
          !notHere.has(shown(path)) &&
          /^\/api\/conversations(\/\{[^}]+\}\/[^/]+(\/respond_to_confirmation)?)?$/.test(path),
      );
      const work = ofConversations.filter((path) => agentWorkOf('POST', path) !== null);
      expect(work.map(shown).sort()).toEqual([
        '/api/conversations',
        '/api/conversations/ID/ask_agent',
        '/api/conversations/ID/condense',
        '/api/conversations/ID/events',
        '/api/conversations/ID/run',
      ]);
      const rest = ofConversations
        .filter((path) => !work.includes(path))
        .map((path) => path.replace(/^\/api\/conversations\/\{[^}]+\}/, ''));
      expect(rest.sort()).toEqual(NO_WORK);
    } finally {
      await sandbox.close();
    }
  });
});
