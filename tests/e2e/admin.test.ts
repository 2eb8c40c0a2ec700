import { expect, jest } from '@jest/globals';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Locator } from 'playwright-core';
import {
  call,
  complaints,
  downloaded,
  executable,
  member,
  newPage,
  open,
  owner,
  row,
  setUpAdmin,
  stack,
  step,
} from './admin-setup.ts';
import { narrowAudit } from './audit-filters.ts';
import { expectClean } from './browser.ts';
import { waitInAFullQueue } from './full-queue.ts';
import { seeHealthOfModels } from './model-health.ts';
import { bringModel } from './own-model.ts';
import { keepPrompts } from './prompts-kept.ts';
import { walkSecurityRules } from './security-rules.ts';

const REPOSITORY = 'https://git.example.test/acme/a-repository-with-quite-a-long-name.git';

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('what an organization’s owner governs, in a browser', () => {
  setUpAdmin();
  let orgId = '';

  step('an organization of two, with work under way and a year of spending', async () => {
    await owner.goto(stack.url);
    await owner.getByRole('link', { name: /^Sign in/ }).click();
    await owner.getByLabel('User name or e-mail').fill('demo');
    await owner.getByLabel('Password').fill('demo');
    await owner.getByRole('button', { name: 'Sign in' }).click();
    await owner.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    orgId = String((await call(owner, 'POST', '/orgs', { name: 'Acme Robotics', slug: 'acme' }))['id']);
    await call(owner, 'POST', `/orgs/${orgId}/conversations`, { prompt: 'Count to 400', model: DEMO_MODEL });
    // The one sandbox is its, so that the next one waits.
    await until(
      'it has its sandbox',
      async () =>
        ((await call(owner, 'GET', `/orgs/${orgId}/sandboxes?state=running`))['data'] as unknown[]).length === 1,
      30_000,
    );
    await call(owner, 'POST', `/orgs/${orgId}/conversations`, {
      prompt: 'Look around and leave a short note',
      model: DEMO_MODEL,
    });
    const invited = await call(owner, 'POST', `/orgs/${orgId}/invitations`, {
      emails: ['grace@example.test'],
      role: 'member',
    });
    const { link } = (invited['data'] as Array<{ link: string }>)[0] ?? { link: '' };
    await member.goto(link);
    await member.getByRole('link', { name: 'Sign in to accept' }).click();
    await member.getByRole('link', { name: /create/i }).click();
    await member.getByLabel('Name', { exact: true }).fill('Grace Hopper');
    await member.getByLabel('E-mail').fill('grace@example.test');
    await member.getByLabel('User name').fill('grace');
    await member.getByLabel(/^Password/).fill('a long password');
    await member.getByRole('button', { name: 'Create account' }).click();
    await member.getByRole('button', { name: 'Join Acme Robotics' }).click();
    await member.getByRole('heading', { level: 1, name: 'New task' }).waitFor();
    const database = new pg.Client({ connectionString: stack.ownerUrl });
    await database.connect();
    try {
      await database.query(
        `INSERT INTO app.usage_day (org_id, day, user_id, repository, model, user_label, requests, failed, prompt_tokens, cached_tokens, completion_tokens, cost_usd, unpriced)
         SELECT $1, (now() AT TIME ZONE 'UTC')::date - 40 - n, 'usr_gone', $2, 'gpt-large', 'Somebody who has left', 100, 1, 1000000, 0, 20000, 1.25, 0 FROM generate_series(0, 99) n`,
        [orgId, REPOSITORY],
      );
    } finally {
      await database.end();
    }
  });

  step('reads at which place of how many a task waits while all is full, and waits no longer', async () => {
    const last = await call(owner, 'POST', `/orgs/${orgId}/conversations`, {
      prompt: 'Wait for your turn',
      model: DEMO_MODEL,
    });
    await waitInAFullQueue(owner, `${stack.url}/acme/conversations/${last['id']}`);
  });

  step('sees who works and who waits, and stops a sandbox', async () => {
    await open(owner, 'admin/sandboxes', 'Sandboxes');
    const fleet = owner.getByRole('table', { name: 'Sandboxes' });
    await fleet.getByRole('row').filter({ hasText: 'Count to 400' }).getByText('Running').waitFor({ timeout: 30_000 });
    const queue = owner.getByRole('table', { name: 'Waiting for a sandbox' });
    const waits = queue.getByRole('row').filter({ hasText: 'Look around' });
    await waits.getByText('The organization runs 1 of 1 sandbox, which is its limit.').waitFor();
    await expectClean(owner, 'sandboxes');
    await owner.getByRole('button', { name: 'Stop sandbox of Count to 400' }).press('Enter');
    await owner.getByRole('dialog', { name: 'Stop this sandbox?' }).getByRole('button', { name: 'Stop' }).click();
    await owner.getByText('Stopping the sandbox.').waitFor();
  });

  step('makes a key that works as the page says, rotates it and revokes it', async () => {
    await open(owner, 'admin/api-keys', 'API keys');
    await owner.getByText('You have no API keys').waitFor();
    const make = owner.getByRole('button', { name: 'New API key' });
    await make.press('Enter');
    const dialog = owner.getByRole('dialog');
    await owner.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until('focus is back', () => make.evaluate((element) => element === document.activeElement));
    await make.press('Enter');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await until('the name has the focus', () =>
      dialog.getByRole('textbox', { name: 'Name' }).evaluate((element) => element === document.activeElement),
    );
    await dialog.getByText('Choose at least one.').waitFor();
    await expectClean(owner, 'a key that is not made yet');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('nightly report');
    await dialog.getByRole('button', { name: 'Read-only' }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const first = await shownCommand(dialog);
    await expectClean(owner, 'a token that is shown once');
    expect(await first()).toBe(200);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row(owner, 'nightly report').getByText('Active').waitFor();
    await owner.getByRole('button', { name: 'Actions of nightly report' }).click();
    await owner.getByRole('menuitem', { name: 'Rotate…' }).click();
    await dialog.getByLabel('Keep the old token working').selectOption({ label: 'Not at all' });
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const second = await shownCommand(dialog);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await until('the old token is over', async () => (await first()) === 401, 4_000);
    expect(await second()).toBe(200);
    await owner.getByRole('combobox', { name: 'State' }).selectOption('active');
    await until('one is active', async () => (await row(owner, 'nightly report').count()) === 1);
    await owner.getByRole('button', { name: 'Actions of nightly report' }).click();
    await owner.getByRole('menuitem', { name: 'Revoke…' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await until('it opens nothing', async () => (await second()) === 401, 4_000);
    await owner.getByText('No API keys match the filters').waitFor();
    await owner.goBack();
    await row(owner, 'nightly report').first().getByText('Revoked').waitFor();
  });

  /** Runs what the page offers for trying a key out. */
  const shownCommand = async (dialog: Locator): Promise<() => Promise<number>> => {
    const command = await dialog.getByRole('group', { name: 'Try it' }).locator('code').innerText();
    const [, authorization, url] = /^curl -H 'Authorization: ([^']+)' '([^']+)'$/.exec(command) ?? [];
    return async () => (await fetch(url ?? '', { headers: { authorization: authorization ?? '' } })).status;
  };

  step('gives a program an account and a key of its own, and both go together', async () => {
    await owner.getByRole('button', { name: 'New service account' }).click();
    const dialog = owner.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('release bot');
    await dialog.getByLabel('Role').selectOption({ label: 'Viewer' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await row(owner, 'release bot').getByText('Viewer').waitFor();
    await owner.getByRole('button', { name: 'New API key' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('deploys');
    await dialog
      .getByRole('combobox', { name: 'Owner' })
      .selectOption({ label: 'release bot (service account, Viewer)' });
    // What a viewer may: read conversations, members, the organization and its prompts.
    expect(await dialog.getByRole('checkbox').count()).toBe(4);
    await dialog.getByRole('checkbox', { name: 'conversation:read' }).check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const command = await shownCommand(dialog);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await command()).toBe(200);
    // The address decides, and it follows the click by a moment: `check` would check too early.
    await owner.getByLabel('Everyone’s keys').click();
    await row(owner, 'deploys').getByText('release bot (service account)').waitFor();
    await expectClean(owner, 'api keys', 'everyTheme');
    await owner.getByRole('button', { name: 'Delete release bot' }).click();
    await dialog.getByText('Its key stops working within two seconds.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await until('its key opens nothing', async () => (await command()) === 401, 4_000);
  });

  step('brings a model of its own, makes it the default, and takes it away again', () =>
    bringModel({ owner, member, open, row }),
  );

  step('sees which provider works and which does not, and asks each for a word', () =>
    seeHealthOfModels({ owner, member, open, row }),
  );

  step('keeps secrets of every kind, replaces one and deletes one, and no value is ever on the screen', async () => {
    await open(owner, 'admin/secrets', 'Secrets');
    const dialog = owner.getByRole('dialog');
    const keep = async (
      opener: string,
      kind: string,
      fields: Record<string, string>,
      scope?: string,
    ): Promise<void> => {
      await owner.getByRole('button', { name: opener, exact: true }).click();
      await dialog.getByLabel('Type').selectOption(kind);
      if (scope !== undefined) await dialog.getByLabel('Scope').selectOption(scope);
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(value);
      await dialog.getByRole('button', { name: 'Add secret' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row(owner, fields['Name'] ?? '').waitFor();
    };
    await keep(
      'New secret',
      'variable',
      { Name: 'DATABASE_PASSWORD', Value: 'the-first-value', Description: 'Of the staging database' },
      'org',
    );
    await keep(
      'New secret',
      'variable',
      { Name: 'DEPLOY_TOKEN', Value: 'the-second-value', Repository: REPOSITORY },
      'repository',
    );
    await keep('New secret', 'git', { Name: 'GITHUB', Host: 'github.com', Value: 'abc' }, 'org');
    await keep('New personal secret', 'variable', { Name: 'MY_TOKEN', Value: 'the-third-value' });
    await row(owner, 'GITHUB').getByText('too short').waitFor();
    await row(owner, 'DEPLOY_TOKEN').getByText('git.example.test/acme/a-repository-with-quite-a-long-name').waitFor();
    await owner.getByRole('button', { name: 'New secret', exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('PATH');
    await dialog.getByRole('button', { name: 'Add secret' }).click();
    await dialog.getByText(/shell, git or the sandbox itself uses/).waitFor();
    await expectClean(owner, 'a secret with a wrong name');
    await owner.keyboard.press('Escape');
    await owner.getByRole('button', { name: 'Actions of DATABASE_PASSWORD' }).click();
    await owner.getByRole('menuitem', { name: 'Replace value…' }).click();
    await dialog.getByLabel('Value').fill('the-fourth-value');
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await owner.getByText(/^DATABASE_PASSWORD has a new value/).waitFor();
    await owner.getByRole('button', { name: 'Actions of DEPLOY_TOKEN' }).click();
    await owner.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row(owner, 'DEPLOY_TOKEN').waitFor({ state: 'detached' });
    await owner.reload();
    await row(owner, 'MY_TOKEN').waitFor();
    expect(await owner.content()).not.toMatch(/the-(first|second|third|fourth)-value/);
    await expectClean(owner, 'secrets');
  });

  step('who waited has the sandbox that was given back', async () => {
    await open(owner, 'admin/sandboxes', 'Sandboxes');
    await owner
      .getByRole('table', { name: 'Sandboxes' })
      .getByRole('row')
      .filter({ hasText: 'Look around' })
      .waitFor({ timeout: 30_000 });
    await owner.getByText('No one is waiting.').waitFor();
  });

  step(
    'sees what was spent, by whom and on what, takes it along as a table, and comes to the conversations behind it',
    async () => {
      await open(owner, 'admin/usage', 'Usage');
      await row(owner, 'Demo Person').waitFor();
      await owner.getByLabel('Period').selectOption('365');
      await row(owner, 'Somebody who has left').getByText('$125.00').waitFor();
      await owner.getByLabel('Group by').selectOption('repository');
      await row(owner, 'a-repository-with-quite-a-long-name').waitFor();
      await expectClean(owner, 'usage');
      const { name, text } = await downloaded(() => owner.getByRole('button', { name: 'CSV' }).click());
      expect(name).toMatch(/^slipway-usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d-by-repository\.csv$/);
      const [header, ...lines] = text
        .replace(/^\uFEFF/, '')
        .trim()
        .split('\r\n');
      expect([
        header?.split(',').includes('repository'),
        lines.filter((line) => line.includes(REPOSITORY)).length,
      ]).toEqual([true, 100]);
      await owner.goBack();
      await owner.getByRole('link', { name: 'Demo Person' }).click();
      await owner.getByRole('checkbox', { name: 'Mine' }).waitFor();
      expect(await owner.getByRole('checkbox', { name: 'Mine' }).isChecked()).toBe(true);
      await owner.getByRole('link', { name: /Count to 400/ }).waitFor();
    },
  );

  step('finds conversations by what the address says, and Back takes a filter away', async () => {
    const list = owner.getByRole('list', { name: 'Conversations' }).getByRole('listitem');
    await owner.goto(`${stack.url}/acme/conversations?repository=`);
    await owner.getByRole('button', { name: 'Remove filter: no repository' }).click();
    await until('all three are there', async () => (await list.count()) === 3);
    await owner.getByRole('searchbox', { name: 'Search titles' }).fill('count');
    await until('one is left', async () => (await list.count()) === 1);
    await owner.getByRole('combobox', { name: 'Status' }).selectOption('failed');
    await owner.getByText('No conversations match the filters').waitFor();
    await expectClean(owner, 'conversations of which none match');
    await owner.goBack();
    await list.getByRole('link', { name: /Count to 400/ }).waitFor();
    await owner.getByRole('combobox', { name: 'Order' }).selectOption('updated');
    await owner.waitForURL('**/conversations?search=count&sort=updated');
    await expectClean(owner, 'conversations');
  });

  step('sets budgets after having read whom they would stop, and lets one user go on', async () => {
    await open(owner, 'admin/budgets', 'Budgets');
    const member = owner.getByLabel('Each member, per month (USD)');
    await member.fill('ten');
    await owner.getByRole('button', { name: 'Save', exact: true }).click();
    await owner.getByText('This must be an amount such as 25 or 12.50.').waitFor();
    await member.fill('0');
    await owner.getByText('2 users would be blocked now.').waitFor();
    await expectClean(owner, 'budgets before they are saved');
    await owner.getByRole('button', { name: 'Save', exact: true }).click();
    await row(owner, 'Grace Hopper').getByText('Blocked').waitFor();
    await owner.getByRole('button', { name: 'Change limit for Grace Hopper' }).click();
    const dialog = owner.getByRole('dialog');
    await dialog.getByLabel('Budget per month (USD)').fill('25');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row(owner, 'Grace Hopper').getByText('Within budget').waitFor();
    await row(owner, 'Grace Hopper').getByText('$25.00 (individual)').waitFor();
    await owner.goto(`${stack.url}/acme`);
    await owner.getByRole('textbox', { name: 'Task', exact: true }).fill('Something more');
    await owner.getByRole('button', { name: /^Start/ }).click();
    await owner.getByText('The budget is used up').first().waitFor();
    await open(owner, 'admin/budgets', 'Budgets');
    await owner.getByRole('button', { name: 'Change limit for Grace Hopper' }).click();
    await dialog.getByRole('button', { name: 'Use default' }).click();
    await row(owner, 'Grace Hopper').getByText('Blocked').waitFor();
    await expectClean(owner, 'budgets');
  });

  step(
    'two tabs change the settings: the slower one gets a conflict, and what it typed is not lost silently',
    async () => {
      await open(owner, 'admin/settings', 'Settings');
      const other = await newPage(owner);
      await open(other, 'admin/settings', 'Settings');
      for (const [page, environment] of [
        [other, 'staging'],
        [owner, 'production'],
      ] as const) {
        await page.getByLabel('Default environment').fill(environment);
        await page.getByRole('button', { name: 'Save' }).click();
        if (page === other) await other.getByText('Settings saved.').waitFor();
      }
      await other.close();
      await owner.getByText('Someone else has changed the settings.').waitFor();
      expect(await owner.getByLabel('Default environment').inputValue()).toBe('production');
      await expectClean(owner, 'settings that were changed meanwhile');
      await owner.getByRole('button', { name: 'Reload' }).click();
      await until(
        'what the other saved is there',
        async () => (await owner.getByLabel('Default environment').inputValue()) === 'staging',
      );
    },
  );

  step('has prompts kept, which members see where they write, and ends that again', () =>
    keepPrompts({ owner, member, open }),
  );

  step('reads in the audit what was done, verifies it and takes it along', async () => {
    await open(owner, 'admin/audit', 'Audit');
    const actions = owner.getByRole('combobox', { name: 'Action', exact: true });
    await actions.selectOption('conversation');
    const started = row(owner, 'Conversation created').filter({ hasText: 'Count to 400' });
    await started.getByRole('link', { name: /Count to 400/ }).waitFor();
    await actions.selectOption('secret');
    await until(
      'other nouns are gone',
      async () => (await row(owner, 'settings').count()) === 0 && (await row(owner, 'Secret created').count()) > 0,
    );
    await row(owner, 'Secret deleted').getByRole('button', { name: 'Details of Secret deleted' }).click();
    const dialog = owner.getByRole('dialog', { name: 'Secret deleted' });
    await dialog.getByText('Position in the chain').waitFor();
    await expectClean(owner, 'an entry of the audit');
    await owner.keyboard.press('Escape');
    await actions.selectOption('');
    await narrowAudit(owner);
    await owner.getByRole('button', { name: 'Verify chain' }).click();
    await owner.getByText('The audit log is intact.').waitFor();
    await expectClean(owner, 'audit');
    const { text } = await downloaded(() => owner.getByRole('link', { name: 'Export' }).click());
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(JSON.stringify(lines)).toContain('secret.delete');
  });

  step('a member has their own keys and secrets there, and is refused everything else with a sentence', async () => {
    await open(member, 'admin/api-keys', 'API keys');
    await member.getByText('You have no API keys').waitFor();
    expect(await member.getByRole('checkbox', { name: 'Everyone’s keys' }).count()).toBe(0);
    expect(await member.getByRole('heading', { name: 'Service accounts' }).count()).toBe(0);
    expect(await member.getByRole('navigation', { name: 'Organization' }).getByRole('link').allInnerTexts()).toEqual([
      'Members',
      'Roles',
      'Models',
      'MCP servers',
      'Secrets',
      'API keys',
      // What agents may use, never its value.
      'Credentials',
      // Which hosts their sandboxes reach; to change it is for admins.
      'Network',
    ]);
    await member.getByRole('link', { name: 'Secrets' }).click();
    await row(member, 'DATABASE_PASSWORD').waitFor();
    expect(await member.getByRole('button', { name: /^(New secret|Actions of .*)$/ }).count()).toBe(0);
    await member.getByRole('button', { name: 'New personal secret' }).waitFor();
    expect(await member.getByText('MY_TOKEN').count()).toBe(0);
    await member.getByRole('link', { name: 'Credentials' }).click();
    await member.getByText('No credentials', { exact: true }).waitFor();
    // What this stack is without, nobody can add; nor may a member change what sandboxes are given.
    await member.getByText('This installation has no credential broker').waitFor();
    expect(await member.getByRole('button', { name: /^(New credential|Save)$/ }).count()).toBe(0);
    for (const [rest, name] of [
      ['sandboxes', 'Sandboxes'],
      ['usage', 'Usage'],
      ['budgets', 'Budgets'],
      ['audit', 'Audit'],
    ] as const) {
      await open(member, `admin/${rest}`, name);
      await member.getByText('Your role does not allow this').first().waitFor();
    }
    await expectClean(member, 'a page that a member may not see');
  });

  step(
    'rules for sign-ins: a member who does not fulfil them is led to a sign-in and back, and an admin ends sessions',
    () => walkSecurityRules({ owner, member, orgId, databaseUrl: stack.ownerUrl, open }),
  );

  step('nothing of the browser complained', () => {
    expect(complaints).toEqual([]);
  });
});
