import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import type { PullRequest, PullRequestList } from '@slipway/contracts/repositories';
import { until } from '@slipway/testing';
import { OpenStack } from '../stack/open-stack.ts';
import { type Harness } from '../stack/script-book.ts';
import type { Talk } from '../stack/talk.ts';
import { Front } from './front.ts';
import type { GitHost, HostAccount, HostRepository } from './git-host.ts';

export const WAIT_MS = 60_000;

export let git: GitHost;
export let ada: HostAccount;
export let front: Front;
export let open: OpenStack;
export let token: string;
export let host: string;
export let made: ConnectionWithSecret;
let harnesses = 0;
/** The name of another harness in the book. */
export const nextHarness = (): string => `harness ${++harnesses}`;

export const post = (path: string, json: unknown): Promise<Response> =>
  open.user.fetch(`/api/v1/orgs/${open.orgId}${path}`, { method: 'POST', json });
export const unlink = (): Promise<unknown> =>
  open.query('DELETE FROM app.linked_account WHERE user_id = $1', [open.user.me.id]);
/** As when the user had linked the account. */
export const link = async ({ id, login }: HostAccount): Promise<void> => {
  await unlink();
  await open.query(
    `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('link', $1, $6, $2, $3, $4, $5)`,
    [open.orgId, host, id, open.user.me.id, login, git.provider],
  );
};
export const repository = (
  repositoryName: string,
  isPrivate = false,
  files: Record<string, string> = {},
): Promise<HostRepository> =>
  git.repository({
    name: repositoryName,
    files: { 'total.js': 'export const total = 1;\n', [git.owners]: 'nobody\n', ...files },
    webhook: { url: made.connection.address ?? '', secret: made.webhookSecret ?? '' },
    private: isPrivate,
  });
export const work = async (repo: HostRepository, harness: Harness): Promise<Talk> => {
  const talk = await open.talk(nextHarness(), harness, {
    repository: `${front.url}/${repo.fullName}`,
    title: 'Mend the total',
  });
  await talk.ended('finished');
  return talk;
};
export const goOn = async (talk: Talk, harness: Harness): Promise<void> =>
  talk.ended('finished', await talk.send(open.book.write(nextHarness(), harness)));
export const path = (talk: Talk, rest = ''): string => `/conversations/${talk.id}/pull-requests${rest}`;
export const row = async (talk: Talk): Promise<PullRequest | undefined> =>
  ((await (await open.user.fetch(`/api/v1/orgs/${open.orgId}${path(talk)}`)).json()) as PullRequestList).data[0];
export const seen = (what: string, talk: Talk, is: (row: PullRequest) => boolean): Promise<PullRequest> =>
  until(
    what,
    async () => {
      const now = await row(talk);
      if (now !== undefined && is(now)) return now;
      throw new Error(JSON.stringify(now));
    },
    WAIT_MS,
  );
export const publish = async (talk: Talk, body: object = {}): Promise<PullRequest> => {
  const answer = await post(path(talk), body);
  expect([answer.status, await answer.clone().text()]).toEqual([202, expect.any(String)]);
  return seen('the publish has ended', talk, (now) => now.publish === 'done' || now.publish === 'failed');
};

/** A git host with a user, a stack that reaches it, and a connection of the two. */
export function setUpPublishing(name: string, startHost: () => Promise<GitHost>, missing: string | null): void {
  beforeAll(async () => {
    if (missing !== null) return;
    git = await startHost();
    front = await Front.open(git.url);
    host = new URL(front.url).host;
    ada = git.owner;
    token = await git.token();
    open = await OpenStack.open({ env: { INTEGRATION_PRIVATE_HOSTS: host } });
    const { provider, kind } = git;
    const answer = await post('/integrations/connections', {
      provider,
      kind,
      name,
      host,
      token,
      settings: { baseUrl: front.url },
    });
    expect(answer.status).toBe(201);
    made = (await answer.json()) as ConnectionWithSecret;
    await link(ada);
  });
  beforeEach(() => {
    if (front === undefined) return;
    front.before = () => {};
    front.after = () => {};
  });
  afterAll(async () => {
    await open?.close();
    await front?.close();
    await git?.close();
  });
}
