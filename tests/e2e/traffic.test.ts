import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeUnless } from '@slipway/testing/jest';
import type { Page } from 'playwright-core';
import { finish, terminal } from '../stack/script-book.ts';
import { findChromium } from './browser.ts';
import { networkPage } from './network-page.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('what sandboxes send, in a browser', () => {
  let own: SignedInStack;
  let page: Page;
  let org: { id: string; slug: string };
  let conversation: string;

  beforeAll(async () => {
    own = await startSignedInStack({
      executable,
      name: 'traffic',
      without: ['sandbox-gateway'],
      serviceEnv: {
        'app-server': {
          EGRESS_CONTROL_SECRET: 'egress-control-of-a-test-0123456789ab',
          INTERNAL_PORT: '0',
          CREDENTIAL_CONTROL_SECRET: 'credential-control-of-a-test-0123456789',
        },
      },
    });
    ({ page } = own);
    const { stack, book } = own;
    const made = await page.request.post(`${stack.url}/api/v1/orgs`, {
      data: { name: 'Acme Robotics', slug: 'acme-robotics' },
      headers: { origin: stack.url },
    });
    org = (await made.json()) as typeof org;
    await page.goto(`${stack.url}/${org.slug}`);
    const task = book.write('traffic', (_request, number) =>
      number === 1 ? terminal('echo fetching') : finish('Fetched.'),
    );
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(task);
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    conversation = page.url().split('/').at(-1) ?? '';
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
  });
  afterAll(() => own?.close());

  const { query, rules, clean } = networkPage(() => ({ own, page, org, conversation }));

  it('is counted: the panel Network says what was sent where, the card what was sent so far, the admin page all', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/conversations/${conversation}?tab=network`);
    const panel = page.getByRole('tabpanel', { name: 'Network' });
    await panel.getByText('No network traffic yet').waitFor();
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    await page.getByText('No traffic', { exact: true }).waitFor();
    await query(
      `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict, rule, connections, bytes_out, bytes_in)
       VALUES ($1, $2, date_trunc('hour', now()), 'registry.npmjs.org', 443, 'allowed', '', 1041, 40960, 734003200),
              ($1, $2, date_trunc('hour', now()), 'github.com', 443, 'allowed', 'observed', 2, 8192, 20480),
              ($1, $2, date_trunc('hour', now()), 'a-very-long-name-of-a-host-that-nobody-would-choose.builds.eu-central-1.example.com', 8443, 'asked', '', 3, 0, 0)`,
      [org.id, conversation],
    );
    await page.goto(`${own.stack.url}/${org.slug}/conversations/${conversation}?tab=network`);
    await panel.getByText('Sent 48.0 KB to 2 hosts · received 700.0 MB').waitFor();
    await panel.getByText('1 host was refused every time.').waitFor();
    expect(await panel.getByText(/egress budget/).count()).toBe(0);
    const hosts = panel.getByRole('list', { name: 'Hosts' }).getByRole('listitem');
    expect(await hosts.count()).toBe(3);
    await hosts.filter({ hasText: 'registry.npmjs.org:443' }).getByText('40.0 KB sent · 700.0 MB received').waitFor();
    await hosts.filter({ hasText: 'a-very-long-name' }).getByText('A user was asked · tried 3 times').waitFor();
    // What credential-broker saw of an opened host, as hostile as a sandbox can make it.
    await query(
      `INSERT INTO app.egress_body (org_id, conversation_id, hour, host, port, type, folder, requests, bytes, workspace_bytes, unread_bytes)
       VALUES ($1, $2, date_trunc('hour', now()), 'registry.npmjs.org', 443, 'application/json', '', 3, 36864, 12288, 0),
              ($1, $2, date_trunc('hour', now()), 'registry.npmjs.org', 443, '', '', 1, 1024, 0, 1024),
              ($1, $2, date_trunc('hour', now()), 'registry.npmjs.org', 443, 'application/json', 'src/billing', 0, 0, 8192, 0),
              ($1, $2, date_trunc('hour', now()), 'registry.npmjs.org', 443, 'application/json', '<img src=x>/a-very-long-name-of-a-folder-that-nobody-would-choose-by-themselves', 0, 0, 4096, 0)`,
      [org.id, conversation],
    );
    const opened = hosts.filter({ hasText: 'registry.npmjs.org:443' });
    await opened.getByText('37.0 KB in 4 requests: application/json, no type named').waitFor();
    await opened.getByText('12.0 KB of the workspace').waitFor();
    await opened.getByText('from src/billing, <img src=x>/a-very-long-name').waitFor();
    await opened.getByText('1.0 KB not compared with the workspace').waitFor();
    expect(await panel.getByText(/of the workspace/).count()).toBe(1);
    await clean('conversation-network');
    await page.setViewportSize({ width: 1440, height: 900 });
    await panel.getByRole('combobox', { name: 'Show' }).selectOption({ label: 'Refused' });
    expect(await hosts.count()).toBe(1);
    await panel.getByRole('searchbox', { name: 'Filter hosts' }).fill('github');
    await panel.getByText('No host matches').waitFor();
    await panel.getByRole('combobox', { name: 'Show' }).selectOption({ label: 'All' });
    expect(await hosts.allInnerTexts()).toEqual([expect.stringContaining('github.com:443')]);
    // Read again while it is open.
    await query("UPDATE app.egress_tally SET bytes_out = 1048576 WHERE host = 'github.com'", []);
    await hosts.getByText('1.0 MB sent · 20.0 KB received').waitFor();
    await query(
      `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, first_time) VALUES ($1, 'egq_1', $2, 'clm', 'upload.example.com', 443, true)`,
      [org.id, conversation],
    );
    await page.reload();
    await page
      .getByText('This conversation has sent 1.0 MB to 2 hosts so far. 12.0 KB of it was text of the workspace')
      .waitFor();
    await clean('card-sent');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const table = page.getByRole('table', { name: 'Top hosts' });
    await table.getByRole('row').filter({ hasText: 'github.com:443' }).getByText('1.0 MB').waitFor();
    await page.getByText('1.0 MB sent and 700.0 MB received, 3 hosts.').waitFor();
    await page.evaluate(() => document.querySelector('[aria-label="Top hosts"]')?.scrollIntoView());
    await clean('network-top-hosts');
  });

  it('is bounded by an egress budget: an admin sets it, and the panel says how much of it is used', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const budget = page.getByRole('region', { name: 'Egress budget' });
    const all = budget.getByLabel('To all hosts (MB a day)');
    const save = budget.getByRole('button', { name: 'Save' });
    for (const [wrong, words] of [
      ['many', 'This is not a number.'],
      ['0', /at least 1/i],
      ['1.5', 'This is not a whole number.'],
    ] as const) {
      await all.fill(wrong);
      await save.click();
      await budget.getByText(words).waitFor();
    }
    await clean('network-budget');
    await page.setViewportSize({ width: 1440, height: 900 });
    await all.fill('5');
    await budget.getByLabel('To the hosts of one domain (MB a day)').fill('2');
    await save.click();
    await page.getByText('Saved. It applies to what is sent from now on.').waitFor();
    await query(
      `INSERT INTO app.egress_spent (org_id, conversation_id, day, host, bytes) VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, '', 2097152)`,
      [org.id, conversation],
    );
    await page.goto(`${own.stack.url}/${org.slug}/conversations/${conversation}?tab=network`);
    const panel = page.getByRole('tabpanel', { name: 'Network' });
    await panel.getByText('2.0 MB of today’s egress budget of 5.0 MB used.').waitFor();
    await query('UPDATE app.egress_spent SET bytes = 5242880', []);
    await panel.getByText('Today’s egress budget of 5.0 MB is used up.').waitFor();
    await clean('conversation-budget');
  });

  it('is what rules are tried on: a draft and a removal say what they would have changed, before anything is', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    const tryIt = dialog.getByRole('button', { name: 'Try on the last 30 days' });
    expect(await tryIt.isDisabled()).toBe(true);
    await dialog.getByLabel('Host', { exact: true }).fill('*.github.io');
    await tryIt.click();
    await dialog.getByText(/takes in hosts of many owners/).waitFor();
    await dialog.getByLabel('Host', { exact: true }).fill('github.com');
    await dialog.getByLabel('Effect').selectOption({ label: 'Deny' });
    await tryIt.click();
    const result = dialog.getByRole('region', { name: 'On the last 30 days' });
    await result
      .getByText('Would be refused, and were let through: 2 connections to 1 host of 1 conversation.')
      .waitFor();
    await result.getByText('Hosts and conversations').click();
    await result.getByText('github.com:443').waitFor();
    expect(await result.getByRole('link').getAttribute('href')).toBe(
      `/${org.slug}/conversations/${conversation}?tab=network`,
    );
    await clean('rule-trial');
    await page.setViewportSize({ width: 1440, height: 900 });
    // The answer is about what was tried, and goes with it.
    await dialog.getByLabel('Host', { exact: true }).fill('nobody.example');
    await result.waitFor({ state: 'detached' });
    await tryIt.click();
    await result.getByText('Nothing would have changed in the last 30 days.').waitFor();
    await page.keyboard.press('Escape');
    expect((await rules()).some(({ host, action }) => host === 'github.com' && action === 'deny')).toBe(false);
    const made = await page.request.post(`${own.stack.url}/api/v1/orgs/${org.id}/egress-rules`, {
      data: { host: 'registry.npmjs.org', action: 'allow' },
      headers: { origin: own.stack.url },
    });
    const rule = (await made.json()) as { id: string };
    await query("UPDATE app.egress_tally SET rule = $1 WHERE host = 'registry.npmjs.org'", [rule.id]);
    await page.reload();
    await page
      .getByRole('table', { name: 'Rules' })
      .getByRole('row')
      .filter({ hasText: 'registry.npmjs.org' })
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page
      .getByRole('dialog')
      .getByText('this rule let through 1,041 connections to 1 host of 1 conversation.')
      .waitFor();
    await page.getByRole('dialog').getByText('A user would be asked about, and were let through: 1,041').waitFor();
    await clean('rule-delete-trial');
    await page.keyboard.press('Escape');
  });

  it('is allowed as a whole list where it was observed: a rule for each host, or none of them', async () => {
    await query(
      `INSERT INTO app.egress_observed (org_id, host, port, conversation_id)
       VALUES ($1, 'files.example.com', 443, $2), ($1, 'files.example.com', 80, $2), ($1, 'metadata.google.internal', 8443, $2)`,
      [org.id, conversation],
    );
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const table = page.getByRole('table', { name: 'Observed hosts' });
    await page.getByRole('button', { name: 'Allow all shown' }).click();
    // One rule is for both ports of a host.
    const confirm = page.getByRole('dialog', { name: 'Allow 2 hosts?' });
    await clean('network-allow-all');
    await page.setViewportSize({ width: 1440, height: 900 });
    await confirm.getByRole('button', { name: 'Add 2 rules' }).click();
    await confirm.getByText(/^metadata\.google\.internal:8443: .* No rule was added\./).waitFor();
    await page.keyboard.press('Escape');
    expect((await rules()).some(({ host }) => host === 'files.example.com')).toBe(false);
    await query("UPDATE app.egress_observed SET host = 'artifacts.example.com' WHERE port = 8443", []);
    await page.reload();
    await page.getByRole('button', { name: 'Allow all shown' }).click();
    await confirm.getByRole('button', { name: 'Add 2 rules' }).click();
    await page.getByText('2 rules added.').waitFor();
    await table.waitFor({ state: 'detached' });
    expect((await rules()).map(({ host }) => host)).toEqual(
      expect.arrayContaining(['files.example.com', 'artifacts.example.com:8443']),
    );
  });

  it('is limited to reading from the Desk too; the card says when any other new host is refused', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}`);
    const row = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
    await row.getByText('The sandbox asks for upload.example.com:443').waitFor();
    await row.getByRole('button', { name: /^Answer: / }).click();
    await row.getByRole('checkbox', { name: 'Read only (GET, HEAD, OPTIONS)' }).check();
    expect(await row.getByRole('button', { name: 'Allow once' }).isDisabled()).toBe(true);
    await clean('desk-read-only');
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole('button', { name: 'This conversation' }).click();
    await row.getByText('Network request').waitFor({ state: 'detached' });
    expect(
      await query("SELECT host, scope, request_action, methods FROM app.egress_rule WHERE request_id = 'egq_1'", []),
    ).toEqual([
      {
        host: 'upload.example.com',
        scope: 'conversation',
        request_action: 'allow',
        methods: ['GET', 'HEAD', 'OPTIONS'],
      },
    ]);
    const asks = (from: number, to: number, state: string) =>
      query(
        `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, first_time, state, decided_at, created_at)
         SELECT $1, 'egq_more_' || n, $2, 'clm', 'more-' || n || '.example.com', 443, true, $5, CASE WHEN $5 = 'waiting' THEN NULL ELSE now() END, now() - interval '20 minutes'
         FROM generate_series($3::integer, $4::integer) n`,
        [org.id, conversation, from, to, state],
      );
    const at = `${own.stack.url}/${org.slug}/conversations/${conversation}`;
    await asks(1, 4, 'waiting');
    await page.goto(at);
    await page
      .getByText('4 requests wait for an answer. Any other new one is refused until one of them has it.')
      .waitFor();
    await clean('card-bound');
    await page.setViewportSize({ width: 1440, height: 900 });
    await asks(5, 20, 'denied');
    await page.goto(at);
    await page.getByText(/has made 2[01] requests within an hour.*it can ask again in \d+ min/).waitFor();
    await query("DELETE FROM app.egress_request WHERE id LIKE 'egq_more_%'", []);
  });

  it('leaves no error on any page', () => expect(own.complaints).toEqual([]));
});
