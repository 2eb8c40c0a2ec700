import type { GiteaUser } from '@slipway/testing/gitea';
import type { Page } from 'playwright-core';

/** As a user does it on Gitea's own pages, which `prepareGiteaPages` builds. */
export async function signInToGitea(page: Page, user: GiteaUser): Promise<void> {
  await page.goto(`${user.url}/user/login`);
  await page.getByLabel('Username or Email Address').fill(user.login);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await page.waitForURL(`${user.url}/`);
}

/** @param issue address of an issue's page. */
export async function putLabel(page: Page, issue: string, label: string): Promise<void> {
  await page.goto(issue);
  const labels = page.locator('.issue-sidebar-combo', { has: page.getByText('Labels', { exact: true }) });
  await labels.locator('.fixed-text').click();
  await labels.locator('.menu .item', { hasText: label }).click();
  // It is saved when the list closes.
  await page.getByRole('heading', { level: 1 }).click();
  await labels.locator('.ui.list').getByText(label).waitFor();
}

/** @param pull address of a pull request's page. @param line of the new side, in the first file. */
export async function commentOnLine(page: Page, pull: string, line: number, text: string): Promise<void> {
  await page.goto(`${pull}/files`);
  const row = page
    .locator('tr.add-code, tr.same-code', { has: page.locator(`.lines-num-new[data-line-num="${line}"]`) })
    .first();
  await row.hover();
  await row.locator('button.add-code-comment').last().click();
  const form = page.locator('.comment-code-cloud form');
  await form.locator('textarea').first().fill(text);
  await form.getByRole('button', { name: 'Add Single Comment' }).click();
  await page.locator('.comment-code-cloud').getByText(text).first().waitFor();
}
