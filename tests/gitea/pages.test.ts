import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForGitea, prepareGiteaPages, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { findChromium, launchChromium, openPage } from '../e2e/browser.ts';
import { commentOnLine, putLabel, signInToGitea } from './gitea-in-browser.ts';
import { isSigned, WebhookListener } from './webhook-listener.ts';

const chromium = findChromium();
const missing =
  (await missingForGitea()) ??
  (chromium === null ? 'No Chromium is on the PATH: apt-get install chromium.' : await prepareGiteaPages(console.log));
if (missing !== null) console.log(`${missing} Gitea's pages are not tried.`);

describeUnless(missing)('a user at the pages of a real Gitea', () => {
  it('labels an issue and comments on a line, and webhooks report both', async () => {
    const [gitea, listener, browser] = await Promise.all([
      startGitea(),
      WebhookListener.open(),
      launchChromium(chromium ?? ''),
    ]);
    try {
      const ada = await gitea.admin.createUser('ada');
      const shop = await ada.createRepository({ name: 'shop', files: { 'total.js': 'export const total = 1;\n' } });
      await shop.createLabel('slipway');
      const issue = await shop.createIssue('The total is wrong');
      await shop.commit({ message: 'Mend it', files: { 'total.js': 'export const total = 2;\n' }, newBranch: 'mend' });
      const pull = await shop.openPullRequest({ title: 'Mend the total', head: 'mend' });
      const secret = randomBytes(20).toString('hex');
      await shop.createWebhook({ url: listener.url, secret });

      const complaints: string[] = [];
      const page = await openPage(await browser.newContext(), complaints);
      await signInToGitea(page, ada);
      await putLabel(page, issue.html_url, 'slipway');
      await commentOnLine(page, pull.html_url, 1, 'Why two?');

      const labelled = await until('the label is delivered', () => listener.of('issue_label'));
      expect(JSON.parse(labelled.body.toString())).toMatchObject({
        issue: { labels: [{ name: 'slipway' }] },
        sender: { login: 'ada' },
      });
      const remark = await until('the comment is delivered', () => listener.of('pull_request_review_comment'));
      expect(remark.body.toString()).toContain('mend');
      expect([labelled, remark].map(({ headers, body }) => isSigned(headers, body, secret))).toEqual([true, true]);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await listener.close();
      await gitea.close();
    }
  });
});
