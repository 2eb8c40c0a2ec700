import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { type Gitea, type GiteaRepository, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import type { CodeHost, ForgeComments } from '../../calls/code-host.js';
import { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { Intent, Reading, TriggerKind } from '../../intent.js';
import type { ReadingContext } from '../../provider.js';
import { verifySignature } from '../../signatures/verify.js';
import { summary } from '../../testing/deliveries.js';
import { giteaCalls } from './calls.js';
import { gitea as provider } from './index.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} Deliveries of a real Gitea are not read.`);
const SECRET = 'a-secret-of-the-hook';

describeUnless(missing)('a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let bot: GiteaUser;
  let shop: GiteaRepository;
  let calls: CodeHost & ForgeComments;
  let token: string;
  let listener: Server;
  let context: ReadingContext;
  const readings: Reading[] = [];
  const ours = new Set<string>();

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    bot = await gitea.admin.createUser('slipway');
    shop = await ada.createRepository({
      name: 'shop',
      private: true,
      files: { 'total.js': 'export const total = 1;\n' },
    });
    await shop.addCollaborator('slipway', 'write');
    context = {
      own: { ids: [String((await bot.self()).id)], mention: 'slipway' },
      labels: ['agent'],
      bots: [],
      confidential: false,
      ours: (key) => ours.has(key),
    };
    listener = createServer(async (request, response) => {
      const raw = Buffer.concat(await request.toArray());
      const refusal = verifySignature(
        provider.signatures['sha256'] as never,
        [SECRET],
        { headers: request.headers, raw },
        new Date(),
      );
      const body: unknown = JSON.parse(raw.toString('utf8'));
      readings.push(
        refusal === null
          ? provider.read({ headers: request.headers, body }, context)
          : { kind: 'ignored', reason: 'unreadable', detail: refusal },
      );
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    await shop.createWebhook({ url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`, secret: SECRET });
    token = await bot.createToken('slipway', ['write:repository', 'write:issue', 'read:user']);
    calls = callsWith(token);
  });
  const clientWith = (token: string): ProviderClient => {
    const baseUrl = provider.codeHost?.apiUrl(gitea.url) ?? '';
    return new ProviderClient({ baseUrl, authorization: `token ${token}`, dispatch: fetch, now: () => new Date() });
  };
  const callsWith = (token: string): CodeHost & ForgeComments => giteaCalls(clientWith(token));
  afterAll(async () => {
    await gitea?.close();
    listener?.closeAllConnections();
    listener?.close();
  });

  /** What is read of `deed`; deliveries of earlier deeds may still come. */
  const reading = async (expected: string, deed: () => Promise<unknown>): Promise<Reading> => {
    const from = readings.length;
    await deed();
    return until(`a delivery read as ${expected}`, () =>
      readings.slice(from).find((each) => summary(each).startsWith(expected)),
    );
  };
  const intent = async (trigger: TriggerKind, deed: () => Promise<unknown>): Promise<Intent> => {
    const read = await reading(`intent: ${trigger} `, deed);
    if (read.kind !== 'intent') throw new Error(summary(read));
    return read.intent;
  };

  it('has its label, mention and stop word read from what it sends', async () => {
    const issue = await shop.createIssue('Total is wrong', 'It adds nothing.');
    await shop.createLabel('agent');
    const labelled = await intent('label', () => shop.addLabels(issue.number, ['agent']));
    expect(labelled).toMatchObject({
      actor: { login: 'ada', kind: 'user' },
      thread: { kind: 'issue', title: 'Total is wrong' },
    });
    expect(labelled.subject?.text).toBe('It adds nothing.');
    expect(await intent('mention', () => shop.comment(issue.number, '@slipway fix it'))).toMatchObject({
      thread: { key: labelled.thread.key },
    });
    await intent('stop', () => shop.comment(issue.number, '@slipway stop'));
    await reading('ignored: quoted-only', () => shop.comment(issue.number, '> @slipway fix it'));
    const self = bot.repository('ada', 'shop');
    await reading('ignored: own-act', () => self.comment(issue.number, '@slipway fix it'));
  });

  it('takes reactions, one comment that is edited, and lets it be found again', async () => {
    const since = new Date(Date.now() - 60_000);
    const issue = await shop.createIssue('Rounding');
    const place = { repository: 'ada/shop', number: issue.number };
    await calls.react(place, { kind: 'subject' });
    await calls.react(place, { kind: 'subject' });
    const comment = await calls.comment(place, 'Working on it. <!-- slipway:c1 -->');
    await calls.react(place, { kind: 'comment', id: comment.id });
    await calls.updateComment('ada/shop', comment.id, 'Done. <!-- slipway:c1 -->');
    expect(await calls.findComment(place, '<!-- slipway:c1 -->', since)).toEqual(comment);
    expect(await calls.findComment(place, '<!-- slipway:c2 -->', since)).toBe(null);
    await expect(calls.comment({ ...place, repository: 'ada/nothing' }, 'x')).rejects.toMatchObject({
      kind: 'missing',
    });
  });

  it('says who may write, with their ids', async () => {
    const eve = await gitea.admin.createUser('eve');
    await shop.addCollaborator('eve', 'read');
    expect(await calls.permissionOf('ada/shop', { id: '1', login: 'slipway' })).toEqual({
      userId: context.own.ids[0],
      access: 'write',
    });
    const of = async (login: string) =>
      calls.permissionOf('ada/shop', { id: '1', login }).then(
        ({ access }) => access,
        (error: { kind: string }) => error.kind,
      );
    // Gitea shows rights of others to administrators only: then it is no right.
    expect(['read', 'forbidden']).toContain(await of((await eve.self()).login));
    expect(await of('nobody')).not.toBe('write');
    expect((await calls.repositories(null)).items).toEqual([]);
  });

  it('lists what the token administers, by part of its name too, with a token for repositories alone', async () => {
    await ada.createRepository({ name: 'scales' });
    await bot.createRepository({ name: 'elsewhere' });
    const admins = callsWith(await ada.createToken('lists', ['read:repository']));
    const names = async (query?: string) =>
      (await admins.repositories(null, query)).items.map(({ fullName }) => fullName).sort();
    expect([await names(), await names('sca'), await names('nothing')]).toEqual([
      ['ada/scales', 'ada/shop'],
      ['ada/scales'],
      [],
    ]);
    expect(await admins.repository('ada/shop')).toMatchObject({
      fullName: 'ada/shop',
      private: true,
      defaultBranch: 'main',
    });
    await expect(admins.repository('ada/nothing')).rejects.toMatchObject({ kind: 'missing' });
  });

  it('adversary: accepts no commit that its branch does not go back to, nor one that has nothing in common with it', async () => {
    const repo = await ada.createRepository({ name: 'history', files: { a: '1\n' } });
    const [{ sha: first } = { sha: '' }] = await repo.call<{ sha: string }[]>('GET', '/commits?sha=main');
    const second = await repo.commit({ message: 'Two', files: { a: '2\n' }, branch: 'main' });
    const third = await repo.commit({ message: 'Three', files: { a: '3\n' }, branch: 'main' });
    const outside = await repo.commit({ message: 'Not merged', files: { b: '1\n' }, newBranch: 'outside' });
    const url = ada.cloneUrl(repo);
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '--git-dir', `${folder}/.git`, ...args], {
        encoding: 'utf8',
      }).trim();
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-orphan-'));
    let orphan: string;
    try {
      git('init', '-q');
      orphan = git('commit-tree', '-m', 'Alone', git('hash-object', '-w', '-t', 'tree', '/dev/null'));
      git('push', '-q', url, `${orphan}:refs/heads/orphan`);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const isAncestor = (commit: string): Promise<boolean> => calls.isAncestor('ada/history', commit, third);
    expect(await Promise.all([first, second, third].map(isAncestor))).toEqual([true, true, true]);
    expect(await Promise.all([outside, orphan, 'f'.repeat(40)].map(isAncestor))).toEqual([false, false, false]);
    expect(await calls.isAncestor('ada/history', third, second)).toBe(false);
  });

  it('opens one pull request, hears its review, answers in place, and is merged only at the head that was meant', async () => {
    const sha = await shop.commit({
      message: 'Round',
      files: { 'total.js': 'export const total = 2;\n' },
      newBranch: 'slipway/round',
    });
    const pull = { head: 'slipway/round', base: 'main', title: 'Round the total', body: 'What changed.', draft: false };
    const made = await calls.createPullRequest('ada/shop', pull);
    expect(made).toMatchObject({ headSha: sha, headBranch: 'slipway/round', fork: false, state: 'open', draft: false });
    await expect(calls.createPullRequest('ada/shop', pull)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await calls.findPullRequest('ada/shop', pull)).toMatchObject({ number: made.number });
    expect(await calls.findPullRequest('ada/shop', { ...pull, head: 'main' })).toBe(null);
    expect([...(await calls.branches('ada/shop', null)).items].sort()).toEqual(['main', 'slipway/round']);
    const place = { repository: 'ada/shop', number: made.number };
    expect(await calls.updatePullRequest(place, { title: 'Round totals' })).toMatchObject({ title: 'Round totals' });

    const comments = [{ path: 'total.js', line: 1, body: 'Why two?' }];
    // It asks for nothing, and changes what the pull request shows.
    await reading(`outcome: #${made.number} changed`, () => shop.review(made.number, { verdict: 'COMMENT', comments }));
    const { thread } = await intent('mention', () => shop.comment(made.number, '@slipway look'));
    expect(thread.kind).toBe('pull-request');
    ours.add(thread.key);
    let review = 0;
    const heard = await intent('review', async () => {
      review = (await shop.review(made.number, { verdict: 'REQUEST_CHANGES', body: 'Not yet.', comments })).id;
    });
    expect(heard).toMatchObject({
      gatherMs: 10_000,
      linesApart: true,
      instruction: { text: 'Not yet.' },
      pullRequest: { headBranch: 'slipway/round' },
    });

    const said = async () => {
      const of = { ...thread, kind: 'pull-request' as const };
      return ((await provider.threads?.read(clientWith(token), of))?.said ?? []).map(({ passage, lines }) => [
        passage.author.login,
        passage.text,
        lines?.path,
        lines?.line,
      ]);
    };
    const lineOf = ['ada', 'Why two?', 'total.js', 1];
    const words = [
      ['ada', '@slipway look', undefined, undefined],
      ['ada', 'Not yet.', undefined, undefined],
    ];
    expect((await said()).sort()).toEqual([...words, lineOf, lineOf].sort());
    const [line] = await shop.reviewComments(made.number, review);
    const reply = await calls.replyToReview(place, String(line?.id), 'Because of cents. <!-- slipway:m1 -->');
    expect([
      await calls.findReviewReply(place, 'slipway:m1'),
      await calls.findReviewReply(place, 'slipway:m2'),
    ]).toEqual([expect.objectContaining({ id: reply.id }), null]);
    await calls.resolveReview(place, String(line?.id));
    const [resolved] = await shop.call<Array<{ resolver: { login: string } | null }>>(
      'GET',
      `/pulls/${made.number}/reviews/${review}/comments`,
    );
    expect(resolved?.resolver).toMatchObject({ login: expect.any(String) });
    // What is resolved asks for nothing more.
    expect((await said()).filter(([, text]) => text === 'Why two?')).toHaveLength(1);
    expect((await calls.reviews('ada/shop', made.number)).map(({ verdict }) => verdict)).toEqual([
      'commented',
      'changes-requested',
    ]);
    await calls.setStatus('ada/shop', sha, {
      state: 'success',
      context: 'slipway',
      description: 'Checked',
      url: 'https://slipway.example/c',
    });
    expect((await shop.combinedStatus(sha)).state).toBe('success');
    expect(await calls.checks('ada/shop', sha)).toMatchObject([
      { name: 'slipway', state: 'success', description: 'Checked' },
    ]);
    expect([...(await calls.tree('ada/shop', { hash: sha, at: null })).entries.keys()]).toContain('total.js');

    await expect(calls.merge(place, '0'.repeat(40))).rejects.toMatchObject({ kind: 'conflict' });
    expect((await calls.pullRequest(place)).state).toBe('open');
    await until('Gitea finds it mergeable', async () => (await shop.pullRequest(made.number)).mergeable);
    await reading(`outcome: #${made.number} merged`, () => calls.merge(place, sha));
    expect((await calls.pullRequest(place)).state).toBe('merged');
  });

  it('reads a merged pull request: its moments, commits, files, and what came to its files after it', async () => {
    const ours = await shop.commit({ message: 'Add a sum', files: { 'lib/sum.js': '1\n' }, newBranch: 'slipway/sum' });
    // Before there is a pull request: Gitea takes a push into one in the background, and a check of it that is still
    // running at the merge leaves the merged pull request without commits.
    const theirs = await shop.commit({ message: 'By hand', files: { 'lib/sum.js': '2\n' }, branch: 'slipway/sum' });
    const { number } = await calls.createPullRequest('ada/shop', {
      head: 'slipway/sum',
      base: 'main',
      title: 'Add a sum',
      body: '',
      draft: false,
    });
    const place = { repository: 'ada/shop', number };
    expect((await calls.pullRequest(place)).moments).toEqual({ opened: expect.any(Date), merged: null, closed: null });
    // It is still checked at first.
    await until('Gitea merges it', () =>
      calls.merge(place, theirs).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ProviderRefusal && ['unavailable', 'conflict'].includes(error.kind)) return false;
          throw error;
        },
      ),
    );
    const { moments, mergeCommits } = await calls.pullRequest(place);
    expect(moments.merged?.getTime()).toBeGreaterThanOrEqual(moments.opened?.getTime() ?? Number.POSITIVE_INFINITY);
    expect(mergeCommits).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/)]);
    const { history } = calls;
    if (history === undefined) throw new Error('Gitea has a history');
    const listed = await history.pullRequestCommits(place);
    expect([listed.whole, listed.items.map(({ sha, isMerge }) => [sha, isMerge])]).toEqual([
      true,
      [
        [ours, false],
        [theirs, false],
      ],
    ]);
    expect(await history.pullRequestFiles(place)).toEqual({ items: ['lib/sum.js'], whole: true });
    const revert = await shop.commit({
      message: `Revert "Add a sum"\n\nThis reverts commit ${mergeCommits[0]}.`,
      files: { 'lib/sum.js': '3\n' },
      branch: 'main',
    });
    const other = await shop.commit({ message: 'Other', files: { 'lib/other.js': '1\n' }, branch: 'main' });
    const span = { branch: 'main', since: moments.opened as Date, until: new Date(Date.now() + 60_000) };
    const all = await history.commits('ada/shop', span, 1_000);
    expect(all.items.slice(0, 3).map(({ sha, isMerge }) => [sha, isMerge])).toEqual([
      [other, false],
      [revert, false],
      [mergeCommits[0], true],
    ]);
    expect(all.items[1]?.message).toContain(`This reverts commit ${mergeCommits[0]}.`);
    const touching = await history.commits('ada/shop', { ...span, path: 'lib/sum.js' }, 50);
    expect([touching.whole, touching.items.map(({ sha }) => sha).slice(0, 1)]).toEqual([true, [revert]]);
    expect(touching.items.map(({ sha }) => sha)).not.toContain(other);
    expect((await history.commits('ada/shop', { ...span, since: new Date(Date.now() + 30_000) }, 50)).items).toEqual(
      [],
    );
    await expect(history.commits('ada/shop', { ...span, branch: 'no-such' }, 50)).rejects.toMatchObject({
      kind: 'missing',
    });
  });
});
