import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless, skipTest } from '@slipway/testing/jest';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { expectClean, findChromium, launchChromium, openPage } from './browser.ts';

const executable = findChromium();
const WIDE = { width: 1440, height: 900 };
/** Nothing is sent: this stack has no worker. */
const ANALYTICS = {
  POSTHOG_HOST: 'https://posthog.example.test',
  ANALYTICS_SECRET: 'of-the-tests-of-at-least-32-characters',
};
const GUEST = { name: 'Grace Hopper', email: 'grace@example.test', username: 'grace', password: 'a long password' };

jest.setTimeout(180_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('people of an organization, in a browser', () => {
  let folder: string;
  let stack: Stack;
  let browser: Browser;
  let owner: Page;
  let guest: Page;
  let link = '';
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-people-'));
    const log: string[] = [];
    stack = await startStack({
      port: await freePortRange(),
      dataDirectory: path.join(folder, 'data'),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TERMS_URL: 'https://example.test/terms',
        TERMS_VERSION: '2026-11',
        ...ANALYTICS,
      },
      log: (line) => log.push(line),
      signal: AbortSignal.timeout(120_000),
      // No user gives a task here.
      without: ['worker', 'runtime-api', 'sandbox-gateway'],
    });
    browser = await launchChromium(executable ?? '');
    owner = await newPage(await newContext());
    guest = await newPage(await newContext());
  });

  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const newContext = (): Promise<BrowserContext> =>
    browser.newContext({
      viewport: WIDE,
      reducedMotion: 'reduce',
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
  const newPage = (context: BrowserContext): Promise<Page> => openPage(context, complaints);

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const signIn = async (page: Page, username: string, password: string): Promise<void> => {
    await page.getByRole('link', { name: /^Sign in/ }).click();
    await page.getByLabel('User name or e-mail').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  /** Two users' steps: after a step that failed the next ones would only wait. */
  let broken = false;
  const step = (name: string, work: () => Promise<void> | void): void => {
    it(name, async () => {
      if (broken) return skipTest('an earlier step failed');
      try {
        await work();
      } catch (error) {
        broken = true;
        await mkdir('test-results', { recursive: true });
        await owner?.screenshot({ path: `test-results/owner-${name.replaceAll(/[^a-z]+/gi, '-')}.png` });
        await guest?.screenshot({ path: `test-results/guest-${name.replaceAll(/[^a-z]+/gi, '-')}.png` });
        throw error;
      }
    });
  };

  step('a user accepts the terms of service, makes an organization and is in it, as its owner', async () => {
    await owner.goto(stack.url);
    await signIn(owner, 'demo', 'demo');
    await heading(owner, 'Accept the terms of service').waitFor();
    expect(await owner.getByRole('link', { name: 'Terms of service, version 2026-11' }).getAttribute('href')).toBe(
      'https://example.test/terms',
    );
    await expectClean(owner, 'the terms');
    await owner.getByRole('button', { name: 'Accept' }).click();
    await heading(owner, 'New task').waitFor();
    await owner.getByRole('button', { name: /switch organization/ }).click();
    await owner.getByRole('menuitem', { name: 'Create organization' }).click();
    await heading(owner, 'Create organization').waitFor();
    await owner.getByRole('button', { name: 'Create' }).click();
    await owner.getByText('This must not be empty.').waitFor();
    await owner.getByLabel('Name').fill('Acme Robotics');
    expect(await owner.getByLabel('Address').inputValue()).toBe('acme-robotics');
    await expectClean(owner, '/orgs/new');
    await owner.getByRole('button', { name: 'Create' }).click();
    await owner.waitForURL('**/acme-robotics/admin/members');
    await rowOf(owner, 'Demo Person').getByText('Owner').waitFor();
    await expectClean(owner, 'members', 'everyTheme');
  });

  step('invites several at once, reads the outcome of each, and gets a link where no mail goes out', async () => {
    await owner.getByRole('button', { name: 'Invite people' }).click();
    const dialog = owner.getByRole('dialog');
    await dialog.getByLabel('Email addresses').fill(`Grace <${GUEST.email}>, demo@example.test; nobody`);
    await dialog.getByText('3 addresses').waitFor();
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByText('Already a member').waitFor();
    await dialog.getByText('Not an email address').waitFor();
    const offered = dialog.getByRole('group', { name: `Link for ${GUEST.email}` });
    link = await offered.locator('code').innerText();
    await expectClean(owner, 'what came of invitations');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await owner.getByRole('tab', { name: 'Invitations' }).click();
    await rowOf(owner, GUEST.email).getByText('Waiting').waitFor();
    expect(new URL(owner.url()).search).toBe('?view=invitations');
    await expectClean(owner, 'invitations');
  });

  step('the link says to another account that it is not for it, and offers to switch', async () => {
    const other = await newPage(owner.context());
    await other.goto(link);
    await other.getByText('Wrong account').waitFor();
    await other.getByRole('button', { name: 'Use another account' }).waitFor();
    expect(await other.getByText(GUEST.email).count()).toBe(0);
    await expectClean(other, 'an invitation for another account');
    await other.close();
  });

  step('the invited user reads it without an account, makes one on the way, comes back and joins', async () => {
    await guest.goto(link);
    await heading(guest, 'Join Acme Robotics').waitFor();
    await guest.getByText('Demo Person invites you to').waitFor();
    await guest.getByRole('link', { name: 'Sign in to accept' }).click();
    await guest.getByRole('link', { name: /create/i }).click();
    await guest.getByLabel('Name', { exact: true }).fill(GUEST.name);
    await guest.getByLabel('E-mail').fill(GUEST.email);
    await guest.getByLabel('User name').fill(GUEST.username);
    await guest.getByLabel(/^Password/).fill(GUEST.password);
    await guest.getByRole('button', { name: 'Create account' }).click();
    await guest.waitForURL(link);
    // The gate stands in the place of the page; behind it is the invitation still.
    await guest.getByRole('button', { name: 'Accept' }).click();
    await guest.getByRole('button', { name: 'Join Acme Robotics' }).click();
    await guest.waitForURL('**/acme-robotics');
    await heading(guest, 'New task').waitFor();
    await guest.goto(link);
    await heading(guest, 'Invitation already used').waitFor();
  });

  step('a member sees the members, and no action of admins', async () => {
    await guest.goto(`${stack.url}/acme-robotics/admin`);
    await guest.waitForURL('**/admin/members');
    await rowOf(guest, GUEST.name).getByText('You').waitFor();
    expect(await guest.getByRole('link', { name: 'Organization' }).getAttribute('aria-current')).toBe('page');
    expect(await guest.getByRole('combobox', { name: /^Role of/ }).count()).toBe(0);
    expect(await guest.getByRole('button', { name: /^(Remove|Invite)/ }).count()).toBe(0);
    expect(
      await guest.getByRole('navigation', { name: 'Organization' }).getByRole('link').allInnerTexts(),
    ).not.toContain('Danger zone');
    await guest.goto(`${stack.url}/acme-robotics/admin/roles`);
    await rowOf(guest, 'org:delete').waitFor();
    await expectClean(guest, 'roles');
  });

  step('a role that is given is there at once, can be taken back, and is still there after a reload', async () => {
    await owner.getByRole('tab', { name: 'Users' }).click();
    await owner.reload();
    const role = owner.getByRole('combobox', { name: `Role of ${GUEST.name}` });
    await role.selectOption('admin');
    await owner.getByText(`${GUEST.name} is now Admin.`).waitFor();
    await owner.getByRole('button', { name: 'Undo' }).click();
    await owner.getByText(`${GUEST.name} is Member again.`).waitFor();
    await role.selectOption('viewer');
    await owner.getByText(`${GUEST.name} is now Viewer.`).waitFor();
    await owner.reload();
    expect(await role.inputValue()).toBe('viewer');
  });

  step('two tabs are in two organizations', async () => {
    const second = await newPage(guest.context());
    await second.goto(guest.url());
    await second.getByRole('button', { name: /switch organization/ }).click();
    await second.getByRole('menuitem', { name: /Personal/ }).click();
    await second.waitForURL((url) => !url.pathname.startsWith('/acme-robotics'));
    await second.getByRole('button', { name: new RegExp(`^${GUEST.name}: switch`) }).waitFor();
    await guest.reload();
    await guest.getByRole('button', { name: /^Acme Robotics: switch/ }).waitFor();
    expect(guest.url()).toContain('/acme-robotics/');
    await second.close();
  });

  step('finds members by name and by role, and says so when none matches', async () => {
    await owner.getByRole('searchbox', { name: 'Search users' }).fill('grace');
    await owner.waitForURL('**/admin/members?search=grace');
    await until('one is left', async () => (await owner.getByRole('row').count()) === 2);
    const [file] = await Promise.all([
      owner.waitForEvent('download'),
      owner.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    expect((await readFile(await file.path(), 'utf8')).split('\r\n').slice(1, -1)).toEqual([
      expect.stringMatching(/^Grace Hopper,grace@example\.test,viewer,invitation,/),
    ]);
    await owner.getByRole('combobox', { name: 'Role', exact: true }).selectOption('owner');
    await owner.getByText('No users match the filters').waitFor();
    await expectClean(owner, 'members of whom none match');
    await owner.goBack();
    await rowOf(owner, GUEST.name).waitFor();
    await owner.goto(`${stack.url}/acme-robotics/admin/members`);
  });

  step('removes a member by keyboard alone, after having read what goes with them', async () => {
    const remove = owner.getByRole('button', { name: `Remove ${GUEST.name}` });
    await remove.focus();
    await owner.keyboard.press('Enter');
    const dialog = owner.getByRole('dialog', { name: `Remove ${GUEST.name}?` });
    await dialog.getByText('No API keys are revoked.').waitFor();
    await owner.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until('focus is back', () => remove.evaluate((element) => element === document.activeElement));
    await owner.keyboard.press('Enter');
    await dialog.getByText('No API keys are revoked.').waitFor();
    await until('Remove has the focus', async () => {
      await owner.keyboard.press('Tab');
      return dialog.getByRole('button', { name: 'Remove' }).evaluate((element) => element === document.activeElement);
    });
    await owner.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await rowOf(owner, GUEST.name).waitFor({ state: 'detached' });
    await guest.reload();
    await heading(guest, 'Organization not found').waitFor();
  });

  step('lets a program in by the code that it shows, and the program gets its key', async () => {
    const ask = (address: string, form: Record<string, string>) =>
      fetch(`${stack.url}/oauth/device/${address}`, { method: 'POST', body: new URLSearchParams(form) });
    const asked = (await (
      await ask('authorize', { client_id: 'A program', scope: 'conversation:read' })
    ).json()) as Record<string, string>;
    await guest.goto(`${stack.url}/device`);
    await guest.getByLabel('Code').fill('nothing');
    await guest.getByRole('button', { name: 'Continue' }).click();
    await guest.getByText(/eight letters/).waitFor();
    await guest.getByLabel('Code').fill(asked['user_code']?.toLowerCase() ?? '');
    await guest.keyboard.press('Enter');
    await guest.getByText('Continue only if you started this request.').waitFor();
    expect(await guest.getByRole('checkbox').count()).toBe(1);
    await expectClean(guest, 'a program that asks');
    await guest.getByRole('button', { name: 'Allow' }).click();
    await heading(guest, 'Done').waitFor();
    const given = await ask('token', {
      device_code: asked['device_code'] ?? '',
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    });
    expect(await given.json()).toMatchObject({ token_type: 'Bearer', scope: 'conversation:read' });
  });

  step('one’s own pages: profile, sessions, connections', async () => {
    await guest.goto(`${stack.url}/settings`);
    await guest.waitForURL('**/settings/profile');
    await guest.getByLabel('Author email').fill('not an address');
    await guest.getByRole('button', { name: 'Save' }).click();
    await guest.getByText('This is not an email address.').waitFor();
    await guest.getByLabel('Author email').fill('commits@example.test');
    await guest.getByRole('button', { name: 'Save' }).click();
    await guest.getByText('Settings saved.').waitFor();
    await guest.reload();
    await until(
      'it is kept',
      async () => (await guest.getByLabel('Author email').inputValue()) === 'commits@example.test',
    );
    await expectClean(guest, 'profile');
    await guest.getByRole('link', { name: 'Connections' }).click();
    await guest.getByText('No connected accounts').waitFor();
    await guest.getByRole('link', { name: 'Sessions' }).click();
    await guest.getByText('This browser').waitFor();
    await expectClean(guest, 'sessions');
    await guest.getByRole('button', { name: 'Sign out this browser' }).click();
    await guest.waitForURL('**/login**');
  });

  step('usage data is off until the user and an admin turn it on, and both see what is sent', async () => {
    await owner.goto(`${stack.url}/settings/profile`);
    const own = owner.getByLabel('Share usage data');
    await own.waitFor();
    expect(await own.isChecked()).toBe(false);
    await own.check();
    await owner.getByText('Usage data is on.').waitFor();
    await owner.reload();
    await own.waitFor();
    expect(await own.isChecked()).toBe(true);
    await expectClean(owner, 'privacy', 'everyTheme');
    await owner.goto(`${stack.url}/acme-robotics/admin/settings`);
    const all = owner.getByLabel('Share usage data');
    await all.waitFor();
    expect([await all.isChecked(), await owner.getByText('Show unsent data').count()]).toEqual([false, 0]);
    await all.check();
    await owner.getByRole('button', { name: 'Save' }).click();
    await owner.getByRole('link', { name: 'Show unsent data' }).waitFor();
  });

  step('claims a domain, and reads which record verifies it and that it is missing', async () => {
    await owner.goto(`${stack.url}/acme-robotics/admin/security`);
    await owner.getByRole('button', { name: 'Claim a domain' }).click();
    await owner.getByRole('textbox', { name: 'Domain' }).fill('acme.invalid');
    await owner.getByRole('button', { name: 'Claim', exact: true }).click();
    await owner.getByRole('group', { name: 'Value of the TXT record' }).waitFor();
    await expectClean(owner, 'a domain that is not proved');
  });

  step('renames it with its address, and is there under the new one', async () => {
    await owner.goto(`${stack.url}/acme-robotics/admin/danger`);
    await owner.getByRole('textbox', { name: 'Address' }).fill('acme');
    await owner.getByRole('button', { name: 'Save' }).click();
    await owner.waitForURL('**/acme/admin/danger');
    // A replica may know a session as it was a second ago.
    await until('the old address leads nowhere', async () => {
      await owner.goto(`${stack.url}/acme-robotics`);
      await owner.getByRole('heading', { level: 1 }).waitFor();
      return (await heading(owner, 'Organization not found').count()) === 1;
    });
  });

  step(
    'deletes the organization by typing its name, sees on every page that it waits for it, and restores it',
    async () => {
      await owner.goto(`${stack.url}/acme/admin/danger`);
      await expectClean(owner, 'danger zone', 'everyTheme');
      await owner.getByRole('button', { name: 'Delete Acme Robotics' }).click();
      const dialog = owner.getByRole('dialog');
      const go = dialog.getByRole('button', { name: 'Delete organization' });
      await dialog.getByRole('textbox').fill('acme robotics');
      expect(await go.isDisabled()).toBe(true);
      await dialog.getByRole('textbox').fill('Acme Robotics');
      await go.click();
      const note = owner.getByRole('region', { name: 'Deletion' });
      await note.getByText(/Acme Robotics will be deleted/).waitFor();
      await expectClean(owner, 'an organization that waits for its deletion');
      await until('every page says so', async () => {
        await owner.goto(`${stack.url}/acme/conversations`);
        await heading(owner, 'Conversations').waitFor();
        return (await note.count()) === 1;
      });
      await note.getByRole('button', { name: 'Restore' }).click();
      await owner.getByText('Acme Robotics is restored.', { exact: false }).waitFor();
      await note.waitFor({ state: 'detached' });
      await owner.reload();
      await heading(owner, 'Conversations').waitFor();
      expect(await note.count()).toBe(0);
    },
  );

  step('saw no error in the console', () => {
    expect(complaints).toEqual([]);
  });
});
