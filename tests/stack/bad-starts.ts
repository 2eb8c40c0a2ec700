import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type ErrorCode } from '@slipway/contracts/errors';
import { createSampleRepository, freePort, until } from '@slipway/testing';
import {
  begin,
  expectExplained,
  goesOn,
  open,
  privateNames,
  processesNamed,
  repository,
  sample,
  sayHello,
  textOf,
} from './bad-input-setup.ts';
import { finish, terminal } from './script-book.ts';
import type { Talk } from './talk.ts';

/** Repositories, setup scripts and git servers that a conversation cannot start with, or not yet. */
export function badStarts(): void {
  describe('at the start', () => {
    const leftOpen: Server[] = [];
    afterAll(() => Promise.all(leftOpen.map(closed)));

    /** A start that fails at this step; the conversation and its log say the same. */
    async function expectFailedStart(talk: Talk, at: string, code: ErrorCode, words: RegExp): Promise<void> {
      const { start, status, sandboxStatus } = await talk.startFailed();
      expect([status, sandboxStatus]).toEqual(['failed', 'ERROR']);
      expect(start.steps.at(-1)).toMatchObject({ status: 'ERROR', state: 'failed', code });
      expectExplained(
        start.steps.find((step) => step.status === at && step.state === 'failed'),
        code,
        words,
      );
      await talk.expectWholeLog();
    }

    it.concurrent('an unknown repository is named, and once it is there a message starts the conversation', async () => {
      const talk = await begin([finish()], { repository: repository('later.git') });
      await expectFailedStart(
        talk,
        'PREPARING_REPOSITORY',
        'repository.not-found',
        /no git repository at .*later\.git/,
      );
      await createSampleRepository(open.repositories, 'later.git', sample);
      await sayHello(talk);
    });

    it.concurrent('a private repository without a token is distinguished from a missing one, without waiting for a password', async () => {
      await createSampleRepository(open.repositories, 'private.git', sample);
      const talk = await begin([finish()], { repository: repository('private.git') });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.private', /private\.git asks for a password/);
      privateNames.length = 0;
      await sayHello(talk);
    });

    it.concurrent('a branch that does not exist is named, and once it is there a message starts the conversation', async () => {
      const talk = await begin([finish()], { repository: repository('sample.git'), branch: 'to-come' });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.branch-not-found', /no branch "to-come"/);
      execFileSync('git', ['-C', path.join(open.repositories, 'sample.git'), 'branch', 'to-come', 'main']);
      await sayHello(talk);
    });

    it.concurrent('a setup script that fails shows its output, and once it is corrected in the repository a message starts the conversation', async () => {
      await createSampleRepository(open.repositories, 'fails.git', {
        '.openhands/setup.sh': 'echo looking for the compiler\necho no compiler here >&2\nexit 3\n',
      });
      const talk = await begin([finish()], { repository: repository('fails.git') });
      await expectFailedStart(
        talk,
        'RUNNING_SETUP_SCRIPT',
        'setup.failed',
        /status 3[\s\S]*looking for the compiler[\s\S]*no compiler here/,
      );
      await createSampleRepository(open.repositories, 'corrected.git', {
        '.openhands/setup.sh': 'echo corrected > setup.txt\n',
      });
      renameSync(path.join(open.repositories, 'fails.git'), path.join(open.repositories, 'before.git'));
      renameSync(path.join(open.repositories, 'corrected.git'), path.join(open.repositories, 'fails.git'));
      await goesOn(talk, [terminal('cat setup.txt'), finish()]);
      expect(talk.of('ObservationEvent').map(({ observation }) => textOf(observation))).toContain('corrected');
    });

    it.concurrent('a setup script that hangs is killed at its limit with all that it started, and shows its output', async () => {
      await createSampleRepository(open.repositories, 'hangs.git', {
        '.openhands/setup.sh': 'echo begun\nsleep 86421 &\nsleep 86422\n',
      });
      const talk = await begin([finish()], { repository: repository('hangs.git') });
      await expectFailedStart(
        talk,
        'RUNNING_SETUP_SCRIPT',
        'setup.timeout',
        /did not end within 5 s and was killed[\s\S]*begun/,
      );
      await until('nothing of it runs', () => processesNamed('sleep 8642').length === 0);
    });

    it.concurrent('a git server that does not answer is waited for in plain sight, and when it answers the start goes on by itself', async () => {
      const silent = await listening(createServer(() => {}));
      leftOpen.push(silent);
      const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const talk = await begin([finish()], { repository: `${address}/sample.git` });
      const problem = await until(
        'the step says what it waits for',
        async () =>
          (await talk.get()).start.steps.find(
            (step) => step.status === 'PREPARING_REPOSITORY' && step.detail?.includes('Trying again'),
          ),
        60_000,
      );
      expect(problem.detail).toMatch(/sample\.git was not there within 6 s/);
      silent.on(
        'request',
        (request, response) => void response.writeHead(301, { location: `${open.git.url}${request.url}` }).end(),
      );
      await talk.ended('finished');
      await talk.expectWholeLog();
    });

    it.concurrent('a git server without a listener is given up in the end, and once it is there a message starts the conversation', async () => {
      const server = createServer(
        (request, response) => void response.writeHead(301, { location: `${open.git.url}${request.url}` }).end(),
      );
      const port = await freePort();
      const talk = await begin([finish()], { repository: `http://127.0.0.1:${port}/sample.git` });
      await expectFailedStart(talk, 'PREPARING_REPOSITORY', 'repository.unreachable', /did not answer/);
      await listening(server, port);
      leftOpen.push(server);
      await sayHello(talk);
    });
  });
}

async function listening(server: Server, port = 0): Promise<Server> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}

/** Also of a test that failed: what listens keeps the suite from its end. */
function closed(server: Server): void {
  server.closeAllConnections();
  server.close();
}
