// A conversation's branch of ten commits published beside a real Gitea: from the request to the pull request that is
// open there, beside a plain git push of such commits.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Conversation } from '@slipway/contracts/conversations';
import {
  byAnswersSoFar,
  ConversationWatcher,
  type SignedInClient,
  signIn,
  startModelServer,
  until,
} from '@slipway/testing';
import { type Gitea, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import pg from 'pg';
import { freePortRange } from '../deploy/local/free-ports.ts';
import { startStack } from '../deploy/local/stack.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Conversations published, one after the other, each a new pull request. */
const SAMPLES = quick(25, 1);
const WARM_UP = quick(2, 1);
const COMMITS = 10;
/** Poll interval of the row while it is published. Milliseconds. */
const LOOK_MS = 10;
const KEY = 'sk-of-the-script';

export default async function run(report: Report): Promise<void> {
  const missing = await missingForGitea();
  if (missing !== null) return report.note(`not measured: ${missing}`);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-publish-'));
  const gitea = await startGitea({ say: (line) => report.note(line) });
  const commit = `for i in $(seq ${COMMITS}); do echo "line $i" >> total.js && git commit -qam "Commit $i"; done`;
  const model = await startModelServer({
    script: byAnswersSoFar([
      { toolCalls: [{ name: 'terminal', arguments: { command: commit } }] },
      { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] },
    ]),
    apiKey: KEY,
  });
  const host = new URL(gitea.url).host;
  const stack = await startStack({
    port: await freePortRange(),
    dataDirectory: path.join(folder, 'data'),
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LLM_BASE_URL: model.url,
      LLM_API_KEY: KEY,
      LLM_MODEL: 'scripted',
      ORG_SANDBOX_LIMIT: '60',
      INTEGRATION_PRIVATE_HOSTS: host,
      LOG_LEVEL: 'warn',
    },
    log: () => {},
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
  });
  const database = new pg.Client({ connectionString: stack.ownerUrl });
  try {
    await database.connect();
    const ada = await gitea.admin.createUser('ada');
    const user = await signIn(stack.url);
    const orgId = user.me.orgs[0]?.id ?? '';
    await connect(user, orgId, { gitea, ada });
    await database.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('bench', $1, 'gitea', $2, $3, $4, 'ada')`,
      [orgId, host, String((await ada.self()).id), user.me.id],
    );
    await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
    const [published, pushed]: [number[], number[]] = [[], []];
    for (let index = 0; index < WARM_UP + SAMPLES; index += 1) {
      const publish = await publishOne(stack.url, user, orgId, `${gitea.url}/ada/shop`, database);
      const push = await pushOne(folder, ada, index);
      if (index < WARM_UP) continue;
      published.push(publish);
      pushed.push(push);
    }
    for (const p of [0.5, 0.99])
      report.figure({
        figure: `p${p * 100}`,
        value: percentile(published, p),
        unit: 'ms',
        floor: percentile(pushed, p),
        n: SAMPLES,
      });
  } finally {
    await database.end();
    await stack.stop();
    await model.close();
    await gitea.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function connect(
  user: SignedInClient,
  orgId: string,
  { gitea, ada }: { gitea: Gitea; ada: GiteaUser },
): Promise<void> {
  const token = await ada.createToken('slipway', ['write:repository', 'write:issue']);
  const json = {
    provider: 'gitea',
    kind: 'token',
    name: 'Gitea',
    host: new URL(gitea.url).host,
    token,
    settings: { baseUrl: gitea.url },
  };
  const answer = await user.fetch(`/api/v1/orgs/${orgId}/integrations/connections`, { method: 'POST', json });
  if (answer.status !== 201) throw new Error(`connecting was answered ${answer.status}: ${await answer.text()}`);
}

/** @returns from the request to the commit that says it is open. Milliseconds. */
async function publishOne(
  url: string,
  user: SignedInClient,
  orgId: string,
  repository: string,
  database: pg.Client,
): Promise<number> {
  const conversations = `/api/v1/orgs/${orgId}/conversations`;
  const { id } = (await (
    await user.fetch(conversations, { method: 'POST', json: { prompt: 'Count.', repository } })
  ).json()) as Conversation;
  const watcher = new ConversationWatcher(url, user.cookie, { orgId, conversationId: id });
  await watcher.waitForExecution('finished');
  watcher.close();
  const began = performance.now();
  const asked = await user.fetch(`${conversations}/${id}/pull-requests`, { method: 'POST', json: { draft: false } });
  if (asked.status !== 202) throw new Error(`publishing was answered ${asked.status}: ${await asked.text()}`);
  for (;;) {
    const { rows } = await database.query<{ publish: string; problem: unknown }>(
      'SELECT publish, problem FROM app.pull_request WHERE conversation_id = $1',
      [id],
    );
    if (rows[0]?.publish === 'failed') throw new Error(`not published: ${JSON.stringify(rows[0].problem)}`);
    if (rows[0]?.publish === 'done') break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const took = performance.now() - began;
  await user.fetch(`${conversations}/${id}/pause`, { method: 'POST' });
  await until(
    'the sandbox is given back',
    async () =>
      (await database.query(`SELECT 1 FROM app.conversation WHERE id = $1 AND sandbox_status = 'PAUSED'`, [id]))
        .rowCount === 1,
    60_000,
  );
  return took;
}

/** @returns how long git itself takes to push as many commits to a branch of its own. Milliseconds. */
async function pushOne(folder: string, ada: GiteaUser, index: number): Promise<number> {
  const clone = path.join(folder, `clone-${index}`);
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: folder },
    });
  git('clone', '-q', ada.cloneUrl({ owner: 'ada', name: 'shop' }), clone);
  for (let number = 1; number <= COMMITS; number += 1) {
    await writeFile(path.join(clone, 'total.js'), `export const total = ${(index + 1) * 1000 + number};\n`);
    git('-C', clone, 'commit', '-qam', `Commit ${number}`);
  }
  const began = performance.now();
  git('-C', clone, 'push', '-q', 'origin', `HEAD:refs/heads/plain-${index}`);
  return performance.now() - began;
}
