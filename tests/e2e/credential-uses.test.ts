import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import type { Credential, CredentialUseDecision } from '@slipway/contracts/credentials';
import { freePort } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { finish } from '../stack/script-book.ts';
import { findChromium, violations } from './browser.ts';
import { type SignedInStack, startSignedInStack } from './signed-in-stack.ts';

const executable = findChromium();
const SECRET = 'credential-control-of-a-test-01234567';

jest.setTimeout(300_000);

describeUnless(
  executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
)('uses of credentials that a user is asked about, in a browser', () => {
  let own: SignedInStack;
  let page: Page;
  let org: { id: string; slug: string };
  let conversation: string;
  let internal: number;

  beforeAll(async () => {
    internal = await freePort();
    own = await startSignedInStack({
      executable,
      name: 'credential-uses',
      without: ['sandbox-gateway'],
      serviceEnv: {
        'app-server': {
          EGRESS_CONTROL_SECRET: 'egress-control-of-a-test-0123456789ab',
          CREDENTIAL_CONTROL_SECRET: SECRET,
          INTERNAL_PORT: String(internal),
        },
      },
    });
    ({ page } = own);
    org = await post('', { name: 'Acme Robotics', slug: 'acme-robotics' });
    await page.goto(`${own.stack.url}/${org.slug}`);
    const task = own.book.write('uses', () => finish('Published.'));
    await page.getByRole('textbox', { name: 'Task', exact: true }).fill(task);
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.waitForURL('**/conversations/**');
    conversation = page.url().split('/').at(-1) ?? '';
    await page.locator('header').getByText('Finished', { exact: true }).waitFor({ timeout: 60_000 });
  });
  afterAll(() => own?.close());

  async function post<Answer>(rest: string, data: object): Promise<Answer> {
    const answer = await page.request.post(`${own.stack.url}/api/v1/orgs${rest}`, {
      data,
      headers: { origin: own.stack.url },
    });
    expect({ rest, status: answer.status() }).toEqual({ rest, status: 201 });
    return (await answer.json()) as Answer;
  }
  const credentials = async (): Promise<Credential[]> => {
    const answer = await page.request.get(`${own.stack.url}/api/v1/orgs/${org.id}/credentials`);
    return ((await answer.json()) as { data: Credential[] }).data;
  };
  const send = async <Answer>(name: string, question: object): Promise<Answer> => {
    const at = `/internal/credentials/v1/${name}`;
    const body = JSON.stringify(question);
    const signature = new InternalSignature(SECRET, 'slipway-credentials');
    const nonce = randomBytes(16).toString('base64url');
    const response = await fetch(`http://127.0.0.1:${internal}${at}`, {
      method: 'POST',
      headers: { [SIGNATURE_HEADER]: signature.sign({ method: 'POST', path: at, body }, new Date(), nonce) },
      body,
    });
    return (await response.json()) as Answer;
  };
  /** As credential-broker asks about a request of the sandbox. */
  const ask = async (name: string, request: object): Promise<CredentialUseDecision> => {
    const credential = (await credentials()).find((each) => each.name === name);
    const [place] = credential?.use.places ?? [];
    return send('use', {
      claim: 'clm_of_a_test',
      org: org.id,
      conversation,
      host: place?.host,
      port: place?.port,
      credential: credential?.id,
      place,
      use: randomUUID(),
      method: 'POST',
      path: '/v1/things',
      queryBytes: null,
      queryHash: null,
      bodyBytes: 0,
      bodyType: null,
      refs: [],
      ...request,
    });
  };
  const clean = async (name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    for (const width of [390, 1440])
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        if (folder !== undefined) {
          await mkdir(folder, { recursive: true });
          await page.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`) });
        }
        expect({ name, width, colorScheme, found: await violations(page) }).toEqual({
          name,
          width,
          colorScheme,
          found: [],
        });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
  };
  const dialog = (): Locator => page.getByRole('dialog');
  const row = (name: string): Locator =>
    page.getByRole('table', { name: 'Credentials' }).getByRole('row').filter({ hasText: name });
  const card = (): Locator => page.getByRole('region', { name: 'Network requests', exact: true });
  const waiting = (text: string): Locator => card().getByRole('listitem').filter({ hasText: text }).first();
  const openConversation = async (): Promise<void> => {
    await page.goto(`${own.stack.url}/${org.slug}/conversations/${conversation}`);
    await page.getByRole('log', { name: 'Timeline' }).waitFor();
  };
  const openCredentials = async (): Promise<void> => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${own.stack.url}/${org.slug}/admin/credentials`);
    await page.getByRole('heading', { level: 1, name: 'Credentials' }).waitFor();
  };

  it('are set with the place, and the last day with the credential; an edit of something else keeps them', async () => {
    await openCredentials();
    await page.getByRole('button', { name: 'New credential', exact: true }).click();
    await dialog().getByLabel('Name', { exact: true }).fill('NPM_PUBLISH');
    await dialog().getByLabel('Value', { exact: true }).fill('npm_of-a-test');
    const place = dialog().getByRole('group', { name: 'Place 1', exact: true });
    await place.getByLabel('Host', { exact: true }).fill('registry.example.com');
    await place.getByLabel('Ask before use').selectOption({ label: 'Before each use' });
    await place.getByText('A user allows each single request before it is sent.').waitFor();
    await place.getByLabel('Uses per conversation').fill('0');
    await dialog().getByLabel('Last day').fill('2099-12-31');
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await place.getByText(/at least 1/).waitFor();
    await place.getByLabel('Uses per conversation').fill('3');
    await place.getByLabel('Ask before use').scrollIntoViewIfNeeded();
    await clean('form');
    await dialog().getByRole('button', { name: 'Add credential' }).click();
    await dialog().waitFor({ state: 'detached' });
    await row('NPM_PUBLISH').getByText('asks before each use, 3 uses per conversation').waitFor();
    await row('NPM_PUBLISH').getByText('until').waitFor();
    await page.getByRole('button', { name: 'Actions of NPM_PUBLISH' }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    expect(await dialog().getByLabel('Last day').inputValue()).toBe('2099-12-31');
    await dialog().getByLabel('Description').fill('Publishes packages');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await post(`/${org.id}/credentials`, {
      name: 'API_TOKEN',
      value: 'api_of-a-test',
      use: { form: 'bearer', places: [{ host: 'api.example.com', paths: ['/v1/**'], ask: 'first-use' }] },
    });
    await post(`/${org.id}/credentials`, {
      name: 'OLD_TOKEN',
      value: 'old_of-a-test',
      expiresAt: '2026-01-01T00:00:00.000Z',
      use: { form: 'bearer', places: [{ host: 'old.example.com' }] },
    });
    await openCredentials();
    await row('OLD_TOKEN').getByText('Expired').waitFor();
    await row('API_TOKEN').getByText('asks before the first use').waitFor();
    await row('NPM_PUBLISH').getByText('Publishes packages').waitFor();
    expect((await credentials()).find(({ name }) => name === 'NPM_PUBLISH')).toMatchObject({
      expiresAt: '2099-12-31T23:59:59.999Z',
      use: { places: [{ ask: 'each-use', usesPerConversation: 3 }] },
    });
    await clean('list');
  });

  it('stand in the card with the request and how far each yes reaches', async () => {
    const publish = { method: 'PUT', path: '/left-pad', bodyBytes: 48 * 1024, bodyType: 'application/json' };
    expect((await ask('NPM_PUBLISH', publish)).decision).toBe('ask');
    expect((await ask('API_TOKEN', { queryBytes: 12, queryHash: 'of-a-test' })).decision).toBe('ask');
    await openConversation();
    await card().getByRole('heading', { name: '2 network requests' }).waitFor();
    const one = waiting('NPM_PUBLISH');
    expect(await one.innerText()).toMatch(/Use NPM_PUBLISH for PUT registry\.example\.com\/left-pad/);
    await one.getByText('Asks before each use').waitFor();
    await one.getByText('48.0 KB application/json').waitFor();
    expect(await one.getByRole('button').allInnerTexts()).toEqual(['Allow once', 'Refuse…']);
    const other = waiting('API_TOKEN');
    await other.getByText('with a query of 12 B').waitFor();
    expect(await other.getByRole('button').allInnerTexts()).toEqual(['Allow once', 'This conversation', 'Refuse…']);
    await clean('card');
    await one.getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    await card()
      .getByText('Use of NPM_PUBLISH for PUT registry.example.com/left-pad was allowed once by Demo Person')
      .waitFor();
    expect([(await ask('NPM_PUBLISH', publish)).decision, (await ask('NPM_PUBLISH', publish)).decision]).toEqual([
      'pass',
      'ask',
    ]);
    await other.getByRole('button', { name: 'This conversation' }).click();
    await card()
      .getByText(/Use of API_TOKEN for POST api.* was allowed for this conversation/)
      .waitFor();
    expect((await ask('API_TOKEN', { path: '/v1/other' })).decision).toBe('pass');
    const again = waiting('NPM_PUBLISH');
    await again.getByRole('button', { name: 'Refuse…' }).click();
    await again.getByRole('textbox', { name: 'Reason (optional)' }).fill('not today');
    await page.keyboard.press('Enter');
    await card()
      .getByText(/Use of NPM_PUBLISH .* was refused by Demo Person: not today/)
      .waitFor();
    await clean('card-settled');
    await page
      .getByRole('log', { name: 'Timeline' })
      .getByText(/was refused by Demo Person: not today/)
      .waitFor();
  });

  it('are counted by conversation and place, for admins', async () => {
    const credential = (await credentials()).find(({ name }) => name === 'NPM_PUBLISH');
    await send('tallies', {
      org: org.id,
      source: randomUUID(),
      seq: 1,
      rows: ['registry.example.com /**', 'other.example.com GET /v1/**'].map((place, index) => ({
        conversation,
        credential: credential?.id,
        place,
        day: Math.floor(Date.now() / 86_400_000),
        uses: 1_200 - index,
      })),
    });
    await openCredentials();
    await page.getByRole('button', { name: 'Actions of OLD_TOKEN' }).click();
    await page.getByRole('menuitem', { name: 'Uses' }).click();
    await dialog().getByText('Not used in the last 90 days.').waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Actions of NPM_PUBLISH' }).click();
    await page.getByRole('menuitem', { name: 'Uses' }).click();
    await dialog().getByText('2,399 uses in the last 90 days').waitFor();
    await dialog().getByRole('region', { name: 'Conversations' }).getByRole('link').waitFor();
    await clean('uses');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('stand on the Desk and are answered there', async () => {
    expect((await ask('NPM_PUBLISH', { method: 'PUT', path: '/right-pad', bodyBytes: null })).decision).toBe('ask');
    await page.getByRole('link', { name: 'Desk' }).first().click();
    const line = page.getByText(/asks to use NPM_PUBLISH for PUT registry.example.com\/right-pad/).first();
    await line.waitFor();
    await clean('desk');
    await page
      .getByRole('button', { name: /^Answer/ })
      .first()
      .click();
    await page.getByText('Body of unknown size').waitFor();
    await clean('desk-answer');
    await page.getByRole('button', { name: 'Allow once' }).click();
    await line.waitFor({ state: 'detached' });
  });

  it('adversary: a place that was changed after the card was drawn is not answered', async () => {
    expect((await ask('NPM_PUBLISH', { method: 'PUT', path: '/third' })).decision).toBe('ask');
    await openConversation();
    const one = waiting('/third');
    await one.waitFor();
    const client = new pg.Client({ connectionString: own.stack.ownerUrl });
    await client.connect();
    await client.query(
      `UPDATE app.credential SET use = jsonb_set(use, '{places,0,methods}', '["PUT"]') WHERE name = 'NPM_PUBLISH'`,
    );
    await client.end();
    await one.getByRole('button', { name: 'Allow once' }).click();
    await one.getByText('The credential has changed since this was asked').waitFor();
  });
});
