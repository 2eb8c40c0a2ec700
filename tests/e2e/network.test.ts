import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
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
)('hosts that a sandbox asks for, in a browser', () => {
  let own: SignedInStack;
  let page: Page;
  let org: { id: string; slug: string };
  let conversation: string;
  let command: string;

  beforeAll(async () => {
    own = await startSignedInStack({
      executable,
      name: 'network',
      without: ['sandbox-gateway'],
      serviceEnv: {
        'app-server': {
          EGRESS_CONTROL_SECRET: 'egress-control-of-a-test-0123456789ab',
          INTERNAL_PORT: '0',
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
    const task = book.write('network', (_request, number) =>
      number === 1 ? terminal('echo fetching the packages') : finish('Fetched.'),
    );
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(task);
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    conversation = page.url().split('/').at(-1) ?? '';
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
    const [action] = await query<{ event_id: string }>(
      "SELECT event_id FROM app.event WHERE conversation_id = $1 AND event->'action'->>'kind' = 'TerminalAction'",
      [conversation],
    );
    command = action?.event_id ?? '';
    expect(command).toMatch(/^[0-9a-f-]{36}$/);
  });
  afterAll(() => own?.close());

  const { query, append, ask, rules, save, open, timeline, card, waiting, clean } = networkPage(() => ({
    own,
    page,
    org,
    conversation,
  }));

  it('stand in one card with the command that asked, and are answered once, for the conversation, or refused', async () => {
    await ask('api.example.com', { actionId: command, tries: 3 });
    await ask('xn--pple-43d.com');
    await ask('telemetry.example.net');
    await open();
    await card().getByRole('heading', { name: '3 network requests' }).waitFor();
    const api = waiting('api.example.com');
    expect(await api.innerText()).toMatch(/as the sandbox says[\s\S]*echo fetching the packages/);
    expect(await api.innerText()).toMatch(/First time in this organization[\s\S]*tried 3 times/);
    expect(await card().getByRole('link').count()).toBe(0);
    expect(await waiting('xn--pple-43d.com').count()).toBe(1);
    await clean('card');

    // With the keyboard alone; the focus stays in the card. The event of the answer has the list read anew.
    await ask('quiet.example.org', { quiet: true });
    expect(await waiting('quiet.example.org').count()).toBe(0);
    await api.getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    const line = card().getByText('api.example.com:443 was allowed once by Demo Person');
    await line.waitFor();
    await until('the line of the answer has the focus', async () =>
      page.evaluate(() => document.activeElement?.textContent?.includes('was allowed once') ?? false),
    );
    await waiting('quiet.example.org').getByRole('button', { name: 'Refuse…' }).click();
    await waiting('quiet.example.org').getByRole('button', { name: 'Back' }).click();
    await page.keyboard.press('Enter');
    await waiting('quiet.example.org').getByRole('textbox', { name: 'Reason (optional)' }).press('Enter');
    await card().getByText('quiet.example.org:443 was refused by Demo Person').waitFor();
    await waiting('xn--pple-43d.com').getByRole('button', { name: 'This conversation' }).click();
    await card().getByText('xn--pple-43d.com:443 was allowed for this conversation by Demo Person').waitFor();

    const telemetry = waiting('telemetry.example.net');
    await telemetry.getByRole('button', { name: 'Refuse…' }).click();
    await telemetry.getByRole('textbox', { name: 'Reason (optional)' }).fill('no telemetry');
    await clean('card-refuse');
    await telemetry.getByRole('textbox').press('Enter');
    await card().getByText('telemetry.example.net:443 was refused by Demo Person: no telemetry').waitFor();
    await timeline().getByText('telemetry.example.net:443 was refused by Demo Person: no telemetry').waitFor();
    expect(await card().getByRole('heading').count()).toBe(0);
    await clean('card-settled');
    await card().getByRole('button', { name: 'Dismiss' }).click();
    await card().waitFor({ state: 'detached' });
    expect((await rules()).map(({ host, scope, once }) => ({ host, scope, once }))).toEqual([
      { host: 'xn--pple-43d.com:443', scope: 'conversation', once: false },
      { host: 'api.example.com:443', scope: 'conversation', once: true },
    ]);
  });

  it('of one command stand together with boxes, are answered by those that are checked, and move nothing', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const host of ['a.one.example', 'b.one.example', 'c.one.example']) await ask(host, { actionId: command });
    await open();
    await card().getByRole('group', { name: 'The sandbox asks for 3 hosts' }).waitFor();
    const box = (host: string) => card().getByRole('checkbox', { name: `${host}:443`, exact: true });
    const isChecked = (host: string): Promise<boolean> => box(host).isChecked();
    expect(await Promise.all(['a', 'b', 'c'].map((name) => isChecked(`${name}.one.example`)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await card().getByText('echo fetching the packages').count()).toBe(1);
    await clean('card-hosts');

    // A host that comes while somebody writes is not checked, and neither the composer nor the buttons move.
    await page.setViewportSize({ width: 1440, height: 900 });
    const composer = page.getByRole('textbox', { name: 'Message', exact: true });
    await composer.fill('what I was about to');
    const places = () =>
      Promise.all(
        [composer, card().getByRole('button', { name: 'Allow once' })].map(
          async (each) => (await each.boundingBox())?.y,
        ),
      );
    const before = await places();
    await ask('d.one.example', { actionId: command });
    await card().getByRole('group', { name: 'The sandbox asks for 4 hosts' }).waitFor();
    await page.keyboard.type(' say');
    expect(await composer.inputValue()).toBe('what I was about to say');
    expect(await places()).toEqual(before);
    expect(await isChecked('d.one.example')).toBe(false);
    await composer.fill('');

    // Each answer counts or fails by itself.
    const [{ id: failing } = { id: '' }] = await query<{ id: string }>(
      "SELECT id FROM app.egress_request WHERE host = 'b.one.example' AND state = 'waiting'",
      [],
    );
    await page.route(`**/egress-requests/${failing}`, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: 'x',
          title: 'Not now',
          status: 503,
          code: 'service.unavailable',
          detail: 'Later.',
        }),
      }),
    );
    await box('c.one.example').focus();
    await page.keyboard.press('Space');
    await card().getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    await card().getByText('a.one.example:443 was allowed once by Demo Person').waitFor();
    await card().getByRole('alert').getByText('Later.').waitFor();
    expect(await isChecked('b.one.example')).toBe(true);
    await clean('card-hosts-failed');
    await page.unroute(`**/egress-requests/${failing}`);
    await box('d.one.example').check();
    await card().getByRole('button', { name: 'This conversation' }).click();
    await card()
      .getByText('b.one.example:443, d.one.example:443 were allowed for this conversation by Demo Person')
      .waitFor();
    // The last one needs no box.
    expect(await card().getByRole('checkbox').count()).toBe(0);
    await waiting('c.one.example').getByRole('button', { name: 'Refuse…' }).click();
    await page.keyboard.press('Enter');
    await card().getByText('c.one.example:443 was refused by Demo Person').waitFor();
    await clean('card-hosts-settled');
  });

  it('say that they are of a terminal, and nothing of an action of another conversation; no text of theirs is code', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await ask('shell.example.com', { actionId: 'terminal' });
    await ask('other.example.com', { actionId: randomUUID() });
    await ask(`${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(60)}.example`);
    await query(
      `UPDATE app.event SET event = jsonb_set(event::jsonb, '{action,command}', to_jsonb($2::text))::json
       WHERE conversation_id = $1 AND event_id = $3`,
      [
        conversation,
        '\u202e\u001b[31m<img src=x onerror=alert(1)> [a](https://evil.example) # **b**\nrm -rf /',
        command,
      ],
    );
    await ask('hostile.example.com', { actionId: command });
    await open();
    await waiting('shell.example.com').getByText('From a terminal, as the sandbox says').waitFor();
    expect(await waiting('other.example.com').innerText()).not.toContain('as the sandbox says');
    const hostile = waiting('hostile.example.com');
    await hostile
      .getByText('⟨U+202E⟩⟨U+001B⟩[31m<img src=x onerror=alert(1)> [a](https://evil.example) # **b**')
      .waitFor();
    expect(await hostile.innerText()).not.toContain('rm -rf');
    expect(await card().locator('a, img, script').count()).toBe(0);
    await clean('card-askers');
    await page.setViewportSize({ width: 1440, height: 900 });
    await hostile.getByRole('button', { name: 'Show the command in the timeline' }).click();
    await until('the command has the focus', () =>
      page.evaluate(() => document.activeElement?.textContent?.includes('onerror') ?? false),
    );
    for (const host of ['shell.example.com', 'other.example.com', 'hostile.example.com']) {
      await waiting(host).getByRole('button', { name: 'Refuse…' }).click();
      await page.keyboard.press('Enter');
      await waiting(host).waitFor({ state: 'detached' });
    }
    await query("UPDATE app.egress_request SET state = 'expired' WHERE state = 'waiting'", []);
  });

  it('show who was first to a second device, and mark what the sandbox made up', async () => {
    await ask('late.example.com');
    await append({
      id: 'egq_made_up',
      host: 'evil.example',
      port: 443,
      state: 'allowed',
      tries: 1,
      actionId: null,
      firstTime: false,
      createdAt: new Date().toISOString(),
      decidedAt: new Date().toISOString(),
      decidedBy: 'Demo',
      scope: 'organization',
      reason: '',
    } satisfies EgressRequest);
    await open();
    await timeline().getByText('Slipway has no record of this').waitFor();
    expect(await card().getByText('evil.example').count()).toBe(0);
    const other = await own.signIn();
    // Its list stays as it was when it was opened: it hears of no answer.
    await other.routeWebSocket(/.*/, () => {});
    await other.goto(page.url());
    await waiting('late.example.com', other).waitFor();
    await waiting('late.example.com').getByRole('button', { name: 'Organization' }).click();
    await card().getByText('late.example.com:443 was allowed for the organization by Demo Person').waitFor();
    await waiting('late.example.com', other).getByRole('button', { name: 'Refuse…' }).click();
    await other.keyboard.press('Enter');
    await card(other).getByText('late.example.com:443 was allowed for the organization by Demo Person').waitFor();
    await card(other).getByText('It was answered before you.').waitFor();
    await other.context().close();
  });

  it('stand on the Desk, where a row is answered by keys alone, and leave it with the answer', async () => {
    await ask('desk.example.com');
    await ask('second.example.com');
    await page.goto(`${own.stack.url}/${org.slug}`);
    const row = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem');
    await row.getByText('The sandbox asks for desk.example.com:443 and one more host').waitFor();
    await row.getByText('Network request', { exact: true }).waitFor();
    const focused = (): Promise<boolean> => row.evaluate((element) => element.contains(document.activeElement));
    // A row may be seen before the page takes keys, and a wide page puts the focus into its composer.
    await until('the row has the focus', async () => {
      if (await focused()) return true;
      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      return focused();
    });
    await page.keyboard.press('a');
    const answers = row.getByRole('group', { name: 'Answer for desk.example.com:443' });
    await answers.waitFor();
    await clean('desk-network-request');
    await page.keyboard.press('Escape');
    await answers.waitFor({ state: 'detached' });
    await until('the row has the focus again', focused);
    await page.keyboard.press('Enter');
    await answers.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await row.getByText('The sandbox asks for second.example.com:443').waitFor();
    await row.getByRole('button', { name: /^Answer: / }).click();
    await row.getByRole('button', { name: 'Refuse…' }).click();
    await row.getByRole('textbox', { name: 'Reason (optional)' }).fill('not needed');
    await page.keyboard.press('Enter');
    await until('no row asks for a host', async () => (await row.getByText('Network request').count()) === 0);
    for (const host of ['left.example.com', 'right.example.com']) await ask(host, { actionId: command });
    await row.getByText('The sandbox asks for left.example.com:443 and one more host').waitFor();
    await row.getByRole('button', { name: /^Answer: / }).click();
    await row.getByRole('group', { name: 'The sandbox asks for 2 hosts' }).waitFor();
    await clean('desk-hosts');
    await row.getByRole('button', { name: 'This conversation' }).click();
    await until('no row asks for a host', async () => (await row.getByText('Network request').count()) === 0);
    expect(
      await query(
        "SELECT host, state, scope FROM app.egress_request WHERE host IN ('left.example.com', 'right.example.com') ORDER BY host",
        [],
      ),
    ).toEqual(
      ['left', 'right'].map((host) => ({ host: `${host}.example.com`, state: 'allowed', scope: 'conversation' })),
    );
    const [first, second] = await query<{ state: string; scope: string | null; reason: string }>(
      "SELECT state, scope, reason FROM app.egress_request WHERE host IN ('desk.example.com', 'second.example.com') ORDER BY host",
      [],
    );
    expect(first).toMatchObject({ state: 'allowed', scope: 'once' });
    expect(second).toMatchObject({ state: 'denied', reason: 'not needed' });
  });

  it('need another user where the organization wants four eyes, and only a yes does', async () => {
    const settings = `${own.stack.url}/api/v1/orgs/${org.id}/settings`;
    const set = async (fourEyes: boolean): Promise<void> => {
      const { version } = (await (await page.request.get(settings)).json()) as { version: number };
      const headers = { origin: own.stack.url, 'if-match': `"${version}"` };
      expect((await page.request.patch(settings, { data: { fourEyes }, headers })).status()).toBe(200);
    };
    await set(true);
    await ask('eyes.example.com');
    await open();
    const eyes = waiting('eyes.example.com');
    await eyes.getByRole('button', { name: 'Allow once' }).click();
    await eyes.getByRole('alert').getByText('Another user must approve').waitFor();
    expect(await eyes.getByRole('button', { name: 'This conversation' }).isDisabled()).toBe(true);
    await clean('card-four-eyes');
    await eyes.getByRole('button', { name: 'Refuse…' }).click();
    await page.keyboard.press('Enter');
    await card().getByText('eyes.example.com:443 was refused by Demo Person').waitFor();
    await set(false);
  });

  it('are decided by rules, which an admin makes and deletes, beside what happens with unknown hosts', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    const table = page.getByRole('table', { name: 'Rules' });
    await table.getByRole('row').filter({ hasText: 'late.example.com:443' }).waitFor();
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    await dialog.getByLabel('Host', { exact: true }).fill('*.github.io');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/takes in hosts of many owners/)
      .waitFor();
    await dialog.getByLabel('Host', { exact: true }).fill('not a host');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByText(/is no host, such as/).waitFor();
    await clean('rule-form');
    await dialog.getByLabel('Host', { exact: true }).fill('*.paste.example');
    await dialog.getByLabel('Effect').selectOption({ label: 'Deny' });
    await dialog.getByLabel('Ends after (hours)').fill('24');
    await dialog.getByLabel('Reason').fill('Nothing leaves by a paste');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    const row = table.getByRole('row').filter({ hasText: '*.paste.example' });
    await row.getByText('Deny').waitFor();
    await clean('network');
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole('button', { name: 'Delete *.paste.example?' }).click();
    await page
      .getByRole('dialog')
      .getByText(/reach the host again/)
      .waitFor();
    await page.keyboard.press('Escape');
    await table
      .getByRole('row')
      .filter({ hasText: 'late.example.com:443' })
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page
      .getByRole('dialog')
      .getByText(/are cut within a second/)
      .waitFor();
    await clean('rule-delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Rule for late.example.com:443 deleted.').waitFor();
    await table.getByRole('row').filter({ hasText: 'late.example.com:443' }).waitFor({ state: 'detached' });
    expect((await rules()).map(({ host }) => host)).not.toContain('late.example.com:443');

    await page.getByRole('radio', { name: 'Refuse it' }).check();
    await save();
    await page.getByText('Saved. It applies to the next connection.').waitFor();
    await page.reload();
    await page.getByRole('radio', { name: 'Refuse it' }).waitFor();
    expect(await page.getByRole('radio', { name: 'Refuse it' }).isChecked()).toBe(true);
  });

  it('are let through and listed while an admin observes them, and become rules from there', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/network`);
    await page.getByRole('radio', { name: 'Go on at once' }).check();
    await save('Answered requests');
    await page.getByText('Saved. It applies to the next answer.').waitFor();
    await page.getByRole('radio', { name: 'Observe' }).check();
    await save();
    await page.getByText('No hosts yet').waitFor();
    await clean('network-observe-empty');
    await query(
      `INSERT INTO app.egress_observed (org_id, host, port, conversation_id, connections, last_at)
       VALUES ($1, 'registry.npmjs.org', 443, $2, 41, now()), ($1, 'artifacts.example.com', 8443, $2, 2, now()),
              ($1, 'registry.npmjs.org', 80, $2, 1, now())`,
      [org.id, conversation],
    );
    await page.reload();
    const table = page.getByRole('table', { name: 'Observed hosts' });
    const registry = table.getByRole('row').filter({ hasText: 'registry.npmjs.org' });
    await registry.filter({ hasText: '41' }).waitFor();
    // Each port is a row of its own.
    expect(await registry.count()).toBe(2);
    await clean('network-observed');
    await page.setViewportSize({ width: 1440, height: 900 });
    await registry.getByRole('button', { name: 'Allow registry.npmjs.org', exact: true }).click();
    await page.getByText('Rule for registry.npmjs.org added.').waitFor();
    // The rule is for both.
    await until('the host is listed no more', async () => (await registry.count()) === 0);
    await table.getByRole('button', { name: 'Deny artifacts.example.com:8443' }).click();
    await table.waitFor({ state: 'detached' });
    const made = (await rules()).map(({ host, action, reason }) => [host, action, reason]);
    expect(made).toContainEqual(['registry.npmjs.org', 'allow', 'Observed in 1 conversation']);
    expect(made).toContainEqual(['artifacts.example.com:8443', 'deny', 'Observed in 1 conversation']);
    await open();
    await page.getByText('Network access is observed').waitFor();
    await clean('conversation-observed');
  });

  it('leave words in the audit log, and no error on any page', async () => {
    await page.goto(`${own.stack.url}/${org.slug}/admin/audit`);
    for (const words of ['Network rule created', 'Network rule deleted', 'Network request allowed'])
      await page.getByText(words).first().waitFor();
    // One answer was made to fail.
    expect(own.complaints.filter((text) => !text.includes('status of 503'))).toEqual([]);
  });
});
