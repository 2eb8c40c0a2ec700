import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import {
  type Gitea,
  GiteaRefusal,
  type GiteaRepository,
  type GiteaUser,
  missingForGitea,
  startGitea,
} from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { isSigned, WebhookListener } from './webhook-listener.ts';
import { WorkCopy } from './work-copy.ts';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);

const FILES = { 'README.md': '# Shop\n', 'total.js': 'export const total = (prices) => prices[0];\n' };

describeUnless(missing)('a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let shop: GiteaRepository;
  const copies: WorkCopy[] = [];
  const clone = async (url: string): Promise<WorkCopy> => {
    const copy = await WorkCopy.clone(url);
    copies.push(copy);
    return copy;
  };

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    shop = await ada.createRepository({ name: 'shop', private: true, files: FILES });
  });
  afterAll(async () => {
    await gitea?.close();
    for (const copy of copies) await copy.remove();
  });

  it('is cloned and pushed to over HTTP with a token', async () => {
    const first = await clone(ada.cloneUrl(shop));
    expect(await readFile(path.join(first.folder, 'total.js'), 'utf8')).toBe(FILES['total.js']);
    const sha = await first.commit({ 'NOTES.md': 'Prices are in cents.\n' }, 'Say what prices are');
    await first.git('push', '--quiet', 'origin', 'main');
    const second = await clone(ada.cloneUrl(shop));
    expect(await second.git('rev-parse', 'HEAD')).toBe(sha);
  });

  it('adversary: neither a wrong token, nor one that may only read, nor another user pushes', async () => {
    const url = new URL(ada.cloneUrl(shop));
    url.password = randomBytes(20).toString('hex');
    await expect(WorkCopy.clone(url.href)).rejects.toThrow(/Authentication failed|unauthorized/i);

    url.password = await ada.createToken('reader', ['read:repository']);
    const copy = await clone(url.href);
    await copy.commit({ 'NOTES.md': 'Changed.\n' }, 'Change');
    await expect(copy.git('push', '--quiet', 'origin', 'main')).rejects.toThrow(/403|denied|scope/i);

    const eve = await gitea.admin.createUser('eve');
    await expect(WorkCopy.clone(eve.cloneUrl(shop))).rejects.toThrow(/not found/i);
    await expect(eve.repository('ada', 'shop').createIssue('Mine')).rejects.toBeInstanceOf(GiteaRefusal);
  });

  it('delivers webhooks whose signature holds for the raw bytes, and for no others', async () => {
    const listener = await WebhookListener.open();
    const secret = randomBytes(20).toString('hex');
    try {
      const watched = await ada.createRepository({ name: 'watched', files: FILES });
      await watched.createLabel('slipway');
      await watched.createWebhook({ url: listener.url, secret });
      const issue = await watched.createIssue('The total is wrong', 'It counts the first price only.');
      await watched.addLabels(issue.number, ['slipway']);
      await watched.comment(issue.number, 'I saw it too.');
      const labelled = await until('the label is delivered', () => listener.of('issue_label'));
      await until('the comment is delivered', () => listener.of('issue_comment'));

      expect(isSigned(labelled.headers, labelled.body, secret)).toBe(true);
      expect(isSigned(labelled.headers, Buffer.concat([labelled.body, Buffer.from(' ')]), secret)).toBe(false);
      expect(isSigned(labelled.headers, labelled.body, `${secret}0`)).toBe(false);
      expect(JSON.parse(labelled.body.toString())).toMatchObject({
        action: 'label_updated',
        issue: { number: issue.number, title: 'The total is wrong', labels: [{ name: 'slipway' }] },
        repository: { full_name: 'ada/watched' },
        sender: { login: 'ada' },
      });
      const ids = listener.deliveries.map(({ headers }) => headers['x-gitea-delivery']);
      expect(new Set(ids).size).toBe(ids.length);
    } finally {
      await listener.close();
    }
  });

  it('opens a pull request, reviews a line of it, asks for a status, refuses a push to main, and merges', async () => {
    const reviewer = await gitea.admin.createUser('grace');
    await shop.addCollaborator('grace', 'write');
    await shop.protectBranch('main', {
      required_approvals: 1,
      enable_status_check: true,
      status_check_contexts: ['tests'],
    });
    const copy = await clone(ada.cloneUrl(shop));
    const sha = await copy.commit(
      { 'total.js': 'export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n' },
      'Add all prices',
      'fix-total',
    );
    await copy.git('push', '--quiet', 'origin', 'fix-total');
    await expect(copy.git('push', '--quiet', 'origin', 'fix-total:main')).rejects.toThrow(/protected branch/i);

    const pull = await shop.openPullRequest({
      title: 'Add all prices',
      head: 'fix-total',
      body: 'The total had one price.',
    });
    expect(await shop.pullRequests()).toEqual([
      expect.objectContaining({ number: pull.number, state: 'open', head: expect.objectContaining({ sha }) }),
    ]);

    const theirs = reviewer.repository('ada', 'shop');
    const remark = { path: 'total.js', line: 1, body: 'What of an empty list?' };
    const asked = await theirs.review(pull.number, {
      verdict: 'REQUEST_CHANGES',
      body: 'One thing.',
      comments: [remark],
    });
    expect(await shop.reviewComments(pull.number, asked.id)).toEqual([
      expect.objectContaining({ path: 'total.js', body: remark.body, position: 1 }),
    ]);

    await shop.setStatus(sha, { context: 'tests', state: 'failure' });
    expect(await shop.combinedStatus(sha)).toMatchObject({ state: 'failure', total_count: 1 });
    await theirs.review(pull.number, { verdict: 'APPROVED' });
    await expect(shop.merge(pull.number)).rejects.toMatchObject({ status: 405 });

    await shop.setStatus(sha, { context: 'tests', state: 'success' });
    await until('it can be merged', async () => (await shop.pullRequest(pull.number)).mergeable);
    await shop.merge(pull.number);
    expect(await shop.pullRequest(pull.number)).toMatchObject({ state: 'closed', merged: true });
    expect(await shop.pullRequests('open')).toEqual([]);
  });

  it('makes an organization with a repository', async () => {
    await ada.createOrganization('acme');
    await ada.createRepository({ owner: 'acme', name: 'till', files: FILES });
    expect(await ada.repository('acme', 'till').call('GET', '')).toMatchObject({
      full_name: 'acme/till',
      default_branch: 'main',
      empty: false,
    });
  });

  it('keeps what it has when it is killed and started again', async () => {
    await gitea.server.kill();
    await expect(ada.self()).rejects.toThrow();
    await gitea.server.start();
    expect(await ada.self()).toMatchObject({ login: 'ada' });
    expect(await shop.pullRequests('closed')).toHaveLength(1);
  });
});
