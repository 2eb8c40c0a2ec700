import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ModelServer, startModelServer } from '@slipway/testing';
import { expect } from 'expect';
import type { Locator, Page } from 'playwright-core';
import { expectClean } from './browser.ts';

/** What the steps of admin.test.ts have. */
interface Desk {
  readonly owner: Page;
  readonly member: Page;
  /** Opens a page of the organization and waits for its heading. */
  readonly open: (page: Page, rest: string, name: string) => Promise<void>;
  readonly row: (page: Page, text: string | RegExp) => Locator;
}

/** Two places at one provider: one answers, the other is refused its key. */
export async function placesOfModels(folder: string): Promise<{ provider: ModelServer; env: Record<string, string> }> {
  const provider = await startModelServer({
    script: ({ body }) =>
      body.model === 'works'
        ? { text: 'pong', usage: { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 } }
        : { fault: 'status', status: 401, message: 'This key is over.' },
  });
  const place = (id: string, model: string) => ({ id, provider: 'openai', baseUrl: provider.url, model });
  const file = path.join(folder, 'models.json');
  await writeFile(
    file,
    JSON.stringify({
      models: [{ name: 'house-model', deployments: [place('house/first', 'works'), place('house/second', 'refused')] }],
    }),
  );
  return { provider, env: { LLM_MODELS_FILE: file } };
}

/** An owner sees how each place fares and tries both; a member sees it and may not try. */
export async function seeHealthOfModels({ owner, member, open, row }: Desk): Promise<void> {
  await open(owner, 'admin/models', 'Models');
  await row(owner, 'house/first').getByText('Not called yet').waitFor();
  await owner.getByRole('button', { name: 'Test house/first' }).click();
  await row(owner, 'house/first')
    .getByText(/^Answered in .*, 13 tokens\.$/)
    .waitFor();
  await owner.getByRole('button', { name: 'Test house/second' }).click();
  await row(owner, 'house/second')
    .getByText(/refused the key/)
    .waitFor();
  await expectClean(owner, 'health of models', 'everyTheme');
  await open(member, 'admin/models', 'Models');
  await row(member, 'house/second').waitFor();
  expect(await member.getByRole('button', { name: /^Test/ }).count()).toBe(0);
  await open(owner, 'admin/audit', 'Audit');
  await owner.getByText('Model deployment tested').first().waitFor();
}
