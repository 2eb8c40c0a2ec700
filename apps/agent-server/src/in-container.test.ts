import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { startModelServer, stopwatch, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { endContainer, firstProcessOf, inContainer, makeVolume, noContainers } from './testing/container.js';
import { TestSandbox } from './testing/sandbox.js';

interface Bash {
  readonly exit_code: number;
  readonly stdout: string | null;
  readonly stderr: string | null;
}

describeUnless(noContainers())(
  'a sandbox as two containers: two users, read-only roots, each the first process of its own table',
  () => {
    it('works, keeps no process that has ended, lets each read what the other wrote, and ends within 2 s of being asked', async () => {
      const sandbox = await TestSandbox.create();
      const at = (name: string): string => path.join(sandbox.directory, name);
      for (const name of ['workspace', 'home', 'state', 'action-state', 'tmp-agent', 'tmp-action']) {
        mkdirSync(at(name), { recursive: true });
        makeVolume(at(name));
      }
      chmodSync(sandbox.directory, 0o755);
      const model = await startModelServer({ script: [{ text: 'hello' }] });
      sandbox.wrap = (which, command) =>
        which === 'agentServer'
          ? [
              'env',
              `TMPDIR=${at('tmp-agent')}`,
              ...inContainer(10_001, [at('workspace'), at('state'), at('tmp-agent')], command),
            ]
          : [
              'env',
              `TMPDIR=${at('tmp-action')}`,
              `HOME=${at('home')}`,
              ...inContainer(10_002, [at('workspace'), at('home'), at('action-state'), at('tmp-action')], command),
            ];
      const bash = async (command: string): Promise<Bash> =>
        (await sandbox.call<Bash>('POST', '/api/bash/execute_bash_command', { command, timeout: 20 })).body;
      try {
        await sandbox.startActionServer();
        await sandbox.startAgentServer();
        expect((await sandbox.activate({})).status).toBe(200);
        expect(
          await bash(
            'id -u; id -g; touch /usr/x 2>/dev/null || echo read-only; echo x > "$TMPDIR/t" && echo y > ~/h && echo written',
          ),
        ).toMatchObject({
          exit_code: 0,
          stdout: '10002\n10000\nread-only\nwritten\n',
        });
        expect(
          await bash(
            'mkdir repo && cd repo && git init -q && echo one > file && git add file && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline | wc -l',
          ),
        ).toMatchObject({ exit_code: 0, stdout: '1\n' });
        expect([statSync(at('workspace/repo/file')).mode & 0o777, statSync(at('workspace/repo/file')).gid]).toEqual([
          0o644, 10_000,
        ]);
        expect(
          await bash("grep -zc ACTIVATION_PUBLIC_KEY /proc/[0-9]*/environ | grep -v ':0' || echo nobody"),
        ).toMatchObject({ stdout: 'nobody\n' });
        // Each leaves a process whose parent ends before it.
        await bash('for i in 1 2 3 4 5; do (sleep 0.2 &); done');
        const processes = async (): Promise<string> =>
          (await bash("cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^[0-9]* (\\(.*\\)) \\(.\\) .*/\\1 \\2/'")).stdout ??
          '';
        await until('no process that has ended is left', async () => {
          const all = await processes();
          return !/ Z$/m.test(all) && !/^sleep/m.test(all);
        });
        const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
          agent: { llm: { model: 'm', base_url: model.url } },
          workspace: { working_dir: sandbox.workspace },
          initial_message: { role: 'user', content: [{ type: 'text', text: 'hi' }], run: true },
        });
        await until('the answer', async () =>
          JSON.stringify((await sandbox.call('GET', `/api/conversations/${body.id}/events/search`)).body).includes(
            '"finished"',
          ),
        );
        for (const part of ['workspace', 'conversations']) {
          const archive = await sandbox.archive('read', part);
          expect([archive.status, (await archive.arrayBuffer()).byteLength > 100]).toEqual([200, true]);
        }
        await bash('trap "" TERM; (trap "" TERM; sleep 1000) & disown; echo $!');
        // agent-server ends as one that a signal ended: its pod must not count as one that has done its work.
        for (const [which, code] of [
          ['agentServer', 143],
          ['actionServer', 0],
        ] as const) {
          const container = sandbox[which];
          if (container === undefined) throw new Error('it was started');
          const passed = stopwatch();
          const ended = once(container, 'exit');
          process.kill(firstProcessOf(container), 'SIGTERM');
          expect([which, (await ended)[0]]).toEqual([which, code]);
          expect(passed()).toBeLessThan(2_000);
        }
        expect(readFileSync(at('state/listening.json'), 'utf8')).toContain('"pid":1');
      } finally {
        for (const container of [sandbox.agentServer, sandbox.actionServer])
          if (container !== undefined) endContainer(container);
        await sandbox.close();
        await model.close();
      }
    });
  },
);
