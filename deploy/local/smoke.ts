import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Conversation } from '@slipway/contracts/conversations';
import { ConversationWatcher, createSampleRepository, signIn, startGitServer } from '@slipway/testing';
import { freePortRange } from './free-ports.ts';
import { startStack } from './stack.ts';

const run = promisify(execFile);
const began = performance.now();
const since = (from: number): number => Math.round(performance.now() - from);
const step = (line: string): void =>
  void process.stderr.write(`  ${(since(began) / 1000).toFixed(1).padStart(5)} s  ${line}\n`);

function require(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(sentence);
}

/**
 * `npm run smoke`: the default on free ports with fresh data, one task from sign-in to an applied diff, one JSON line.
 */
async function smoke(): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-smoke-'));
  const stops: Array<() => Promise<void>> = [() => rm(folder, { recursive: true, force: true })];
  try {
    await createSampleRepository(path.join(folder, 'repositories'), 'sample.git', {
      'README.md': '# Sample\n\nA small project.\n',
      'src/sum.js': 'export const sum = (a, b) => a + b;\n',
    });
    const git = await startGitServer(path.join(folder, 'repositories'));
    stops.push(() => git.close());
    const stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: process.env,
      log: step,
      signal: AbortSignal.timeout(120_000),
    });
    stops.push(() => stack.stop());
    const readyMs = since(began);

    const user = await signIn(stack.url, { username: 'demo', password: 'demo' });
    const org = user.me.orgs[0];
    require(org !== undefined, 'the demo user has no organization');
    step(`signed in as ${user.me.name}`);

    const asked = performance.now();
    const answer = await user.fetch(`/api/v1/orgs/${org.id}/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        prompt: 'Look around and leave a short note about what you find.',
        repository: `${git.url}/sample.git`,
        branch: 'main',
      }),
    });
    require(answer.status === 201, `creating a conversation answered ${answer.status}: ${await answer.clone().text()}`);
    const conversation = (await answer.json()) as Conversation;
    const watcher = new ConversationWatcher(stack.url, user.cookie, { orgId: org.id, conversationId: conversation.id });
    stops.push(async () => watcher.close());
    await watcher.waitFor('an event of the agent', ({ event }) => event.source === 'agent');
    const firstEventMs = since(asked);
    step('the agent has begun');
    await watcher.waitForExecution('finished', 60_000);
    const finishedMs = since(asked);
    step(`finished after ${watcher.log.length} events`);

    const base = `/api/v1/orgs/${org.id}/conversations/${conversation.id}`;
    const page = (await (await user.fetch(`${base}/events?limit=1000`)).json()) as {
      data: Array<{ seq: number }>;
      page: { head: number };
    };
    require(page.data.every((line, index) => line.seq === index + 1) &&
      page.data.length === page.page.head, 'the log has a gap');
    const diff = await user.fetch(`${base}/diff`);
    require(diff.status === 200, `the diff answered ${diff.status}: ${await diff.clone().text()}`);
    await writeFile(path.join(folder, 'work.patch'), Buffer.from(await diff.arrayBuffer()));
    const clone = path.join(folder, 'clone');
    await mkdir(clone);
    await run('git', ['clone', '--quiet', `${git.url}/sample.git`, clone]);
    await run('git', ['-C', clone, 'apply', '--whitespace=nowarn', path.join(folder, 'work.patch')]);
    const changed = (await run('git', ['-C', clone, 'status', '--porcelain'])).stdout.trim();
    require(changed !== '', 'the diff is empty');
    step(`the diff applies: ${changed.replaceAll('\n', ', ')}`);
    return { ok: true, readyMs, firstEventMs, finishedMs, events: page.page.head };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

try {
  process.stdout.write(`${JSON.stringify(await smoke())}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.stdout.write(
    `${JSON.stringify({ ok: false, error: error instanceof Error ? error.message : String(error) })}\n`,
  );
  process.exitCode = 1;
}
process.exit();
