import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Conversation, MAX_PROMPT_LENGTH } from '@slipway/contracts/conversations';
import { ERRORS, type ErrorCode, type Problem } from '@slipway/contracts/errors';
import { textOfMessage } from '@slipway/testing';
import { startStack } from '../../deploy/local/stack.ts';
import { badAnswers } from './bad-answers.ts';
import { badCommands } from './bad-commands.ts';
import { expectExplained, harnessName, open, setUpBadInput } from './bad-input-setup.ts';
import { badStarts } from './bad-starts.ts';
import { finish } from './script-book.ts';

const MIB = 1024 * 1024;

describe('bad input', () => {
  setUpBadInput();

  badStarts();

  describe('in a request', () => {
    const conversations = async (): Promise<number> =>
      (
        (await (await open.user.fetch(`/api/v1/orgs/${open.orgId}/conversations?limit=200`)).json()) as {
          data: unknown[];
        }
      ).data.length;
    async function expectRefused(response: Response, code: ErrorCode, words: RegExp): Promise<void> {
      const problem = (await response.json()) as Problem;
      expect([response.status, problem.status, response.headers.get('content-type')]).toEqual([
        ERRORS[code].status,
        ERRORS[code].status,
        expect.stringContaining('application/problem+json'),
      ]);
      expectExplained(problem, code, words);
    }

    it('a prompt of 1 MB is refused with its limit, whether it fits the body or not, and the longest allowed one reaches the model whole', async () => {
      const before = await conversations();
      await expectRefused(await open.create({ prompt: 'a'.repeat(1_000_000) }), 'request.invalid', /prompt/);
      await expectRefused(await open.create({ prompt: 'a'.repeat(MIB + 1) }), 'request.too-large', /./);
      expect(await conversations()).toBe(before);
      const name = harnessName();
      const prompt = open.book.write(name, [finish()]).padEnd(MAX_PROMPT_LENGTH, 'Ж');
      const talk = open.follow(((await (await open.create({ prompt })).json()) as Conversation).id);
      await talk.ended('finished');
      expect(textOfMessage(open.book.requestsOf(name)[0]?.body.messages?.at(-1) ?? { role: '' })).toBe(prompt);
    });

    it('a body that is not JSON is refused as that, on every route', async () => {
      const send = (body: string, address = `/api/v1/orgs/${open.orgId}/conversations`): Promise<Response> =>
        open.user.fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      await expectRefused(await send('{"prompt": "x"'), 'request.not-json', /JSON/);
      await expectRefused(await send('prompt=x', '/api/conversations'), 'request.not-json', /JSON/);
      await expectRefused(await send('\u0000\u0001'), 'request.not-json', /JSON/);
      await expectRefused(await open.create({ prompt: 'with a \u0000 in it' }), 'request.invalid', /NUL/);
    });

    it('a model that is not offered is refused by name, and nothing is created', async () => {
      const before = await conversations();
      await expectRefused(await open.create({ prompt: 'x', model: 'no-such-model' }), 'model.unknown', /no-such-model/);
      expect(await conversations()).toBe(before);
    });
  });

  it('a port that is taken is named with the way out, before anything is started', async () => {
    const dataDirectory = path.join(open.folder, 'second');
    const second = startStack({
      port: open.port,
      dataDirectory,
      env: {},
      log: () => {},
      signal: AbortSignal.timeout(60_000),
    });
    await expect(second).rejects.toThrow(
      new RegExp(`port ${open.port} \\(app-server\\) is already taken.*SLIPWAY_PORT=`),
    );
    expect(existsSync(path.join(dataDirectory, 'postgres'))).toBe(false);
    expect((await open.user.fetch('/api/v1/me')).status).toBe(200);
  });

  badCommands();

  badAnswers();
});
