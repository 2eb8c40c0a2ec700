import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { EgressRequest, EgressRuleList } from '@slipway/contracts/sandboxes';
import { expect } from 'expect';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { violations } from './browser.ts';
import type { SignedInStack } from './signed-in-stack.ts';

/** Where the sandbox asks, and who looks. */
interface Place {
  readonly own: SignedInStack;
  readonly page: Page;
  readonly org: { readonly id: string; readonly slug: string };
  readonly conversation: string;
}

/** What the steps of network.test.ts share. @param place as it is then. */
export function networkPage(place: () => Place) {
  async function query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    const client = new pg.Client({ connectionString: place().own.stack.ownerUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }
  /** As app-server appends it; who has the page open sees it at the next read of the log. */
  const append = (value: object) =>
    query(
      `WITH moved AS (UPDATE app.conversation SET head = head + 1 WHERE id = $1 RETURNING org_id, head)
       INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event)
       SELECT $1, head, org_id, (SELECT max(epoch) FROM app.event WHERE conversation_id = $1), $2,
              'ConversationStateUpdateEvent', $3::json FROM moved`,
      [
        place().conversation,
        ...((id) => [
          id,
          JSON.stringify({
            id,
            timestamp: new Date().toISOString(),
            source: 'environment',
            kind: 'ConversationStateUpdateEvent',
            key: 'egress_request',
            value,
          }),
        ])(randomUUID()),
      ],
    );
  /** @param more.quiet without its event: pages that are open do not hear of it. */
  const ask = async (host: string, more: { actionId?: string; tries?: number; quiet?: true } = {}): Promise<void> => {
    const id = `egq_${randomUUID()}`;
    const { actionId = null, tries = 1 } = more;
    await query(
      `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, action_id, tries, first_time)
       VALUES ($1, $2, $3, 'clm_of_a_test', $4, 443, $5, $6, true)`,
      [place().org.id, id, place().conversation, host, actionId, tries],
    );
    if (more.quiet) return;
    await append({
      id,
      host,
      port: 443,
      state: 'waiting',
      tries,
      actionId,
      firstTime: true,
      createdAt: new Date().toISOString(),
      decidedAt: null,
      decidedBy: null,
      scope: null,
      reason: '',
    } satisfies EgressRequest);
  };
  const save = (section = 'Unknown hosts') =>
    place()
      .page.locator('form')
      .filter({ has: place().page.getByRole('group', { name: section }) })
      .getByRole('button', { name: 'Save' })
      .click();
  const rules = async (): Promise<EgressRuleList['data']> => {
    const answer = await place().page.request.get(
      `${place().own.stack.url}/api/v1/orgs/${place().org.id}/egress-rules`,
    );
    return ((await answer.json()) as EgressRuleList).data;
  };
  const open = async (): Promise<void> => {
    await place().page.goto(`${place().own.stack.url}/${place().org.slug}/conversations/${place().conversation}`);
    await timeline()
      .getByText(/Fetched\.|The sandbox asks for|by Demo Person/)
      .first()
      .waitFor();
  };
  const timeline = (of: Page = place().page) => of.getByRole('log', { name: 'Timeline' });
  const card = (of: Page = place().page) => of.getByRole('region', { name: 'Network requests', exact: true });
  const waiting = (host: string, of: Page = place().page) =>
    card(of)
      .getByRole('listitem')
      .filter({ hasText: `asks for ${host}:443` });
  const clean = async (name: string, scope: Page = place().page): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    for (const width of [390, 1440])
      for (const colorScheme of ['dark', 'light'] as const) {
        await scope.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await scope.emulateMedia({ colorScheme });
        expect(await scope.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        if (folder !== undefined) {
          await mkdir(folder, { recursive: true });
          await scope.screenshot({ path: path.join(folder, `${name}-${width}-${colorScheme}.png`) });
        }
        expect({ name, width, colorScheme, found: await violations(scope) }).toEqual({
          name,
          width,
          colorScheme,
          found: [],
        });
      }
  };
  return { query, append, ask, rules, save, open, timeline, card, waiting, clean };
}
