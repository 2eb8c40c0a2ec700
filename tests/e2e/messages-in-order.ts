import { expect } from 'expect';
import type { Route } from 'playwright-core';
import { finish } from '../stack/script-book.ts';
import type { Watching } from './watching.test.ts';

/**
 * A part of the system does not answer, as while it is replaced: the message is sent again by itself, once, and what
 * was written after it comes after it.
 */
export async function sendThroughAnOutage({ page, say, status, timeline }: Watching): Promise<void> {
  let refused = 0;
  const messages = '**/api/v1/orgs/*/conversations/*/messages';
  await page.route(messages, (route) => {
    if (refused >= 2) return route.continue();
    refused += 1;
    return route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'about:blank',
        title: 'A part of the system does not answer',
        status: 503,
        code: 'service.unavailable',
        detail: 'The database does not answer.',
        retry: 'later',
      }),
    });
  });
  try {
    await say('in-an-outage', [finish('Heard the one of the outage.')]);
    await say('after-an-outage', [finish('Heard the one after it.')]);
    await timeline().getByText('Heard the one after it.').waitFor({ timeout: 60_000 });
  } finally {
    await page.unroute(messages);
  }
  await status('Finished').waitFor();
  const said = await timeline()
    .getByText(/^\[(in|after)-an-outage\] Please do it\.$/)
    .allInnerTexts();
  expect([refused, said]).toEqual([2, ['[in-an-outage] Please do it.', '[after-an-outage] Please do it.']]);
}

/**
 * The first message is slow on its way, as while a replica of app-server is replaced; the second one is written
 * meanwhile.
 */
export async function writeTwoInOrder({ page, say, status, timeline }: Watching): Promise<void> {
  const held: Route[] = [];
  const messages = '**/api/v1/orgs/*/conversations/*/messages';
  await page.route(messages, (route) => {
    if (held.length > 0) return route.continue();
    held.push(route);
  });
  try {
    await say('earlier', [finish('Heard the earlier one.')]);
    await say('later', [finish('Heard the later one.')]);
    const outgoing = page.getByRole('list', { name: 'Messages being sent' });
    await outgoing.getByText('[later] Please do it.').waitFor({ timeout: 2_000 });
    await held[0]?.continue();
    await timeline().getByText('Heard the later one.').waitFor({ timeout: 60_000 });
  } finally {
    await page.unroute(messages);
  }
  await status('Finished').waitFor();
  const said = await timeline()
    .getByText(/^\[(earlier|later)\] Please do it\.$/)
    .allInnerTexts();
  expect(said).toEqual(['[earlier] Please do it.', '[later] Please do it.']);
}
