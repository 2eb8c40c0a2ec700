import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';

const missing = await missingForGitea();

/** What runs in the process that is killed. */
const STARTER = `
import { startGitea } from '@slipway/testing/gitea';
const gitea = await startGitea();
console.log(JSON.stringify({ url: gitea.url, home: gitea.server.home }));
setInterval(() => {}, 1_000);
`;

describeUnless(missing)('the lifetime of a Gitea', () => {
  it('is one of two at once, and leaves neither a process nor a folder', async () => {
    const both = await Promise.all([startGitea({ say: console.log }), startGitea({ say: console.log })]);
    const [first, second] = both;
    expect(first.url).not.toBe(second.url);
    await first.admin.createUser('ada');
    await expect(second.admin.call('GET', '/users/ada')).rejects.toMatchObject({ status: 404 });
    const pids = both.map(({ server }) => server.pid as number);
    expect(pids.every(isRunning)).toBe(true);
    await Promise.all(both.map((gitea) => gitea.close()));
    expect([...pids.map(isRunning), ...both.map(({ server }) => existsSync(server.home))]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('ends with the process that started it, when that one is killed', async () => {
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', STARTER], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: starter.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    const { url, home } = JSON.parse(line) as { url: string; home: string };
    expect(await serves(url)).toBe(true);
    starter.kill('SIGKILL');
    await until('it serves no more', async () => !(await serves(url)), 30_000);
    await rm(home, { recursive: true, force: true });
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function serves(url: string): Promise<boolean> {
  return fetch(`${url}/api/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
