import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';

/** What the step of first-task.test.ts has. */
interface Harness {
  readonly page: Page;
  /** Of the stack. */
  readonly dataDirectory: string;
  readonly axeClean: (where: string) => Promise<void>;
}

/** A machine that is busy with other tests. Milliseconds. */
const SLOW = { timeout: 30_000 };

/** The folder of the sandbox that this repository was cloned into. */
function repositoryIn(dataDirectory: string, name: string): string {
  const workspaces = path.join(dataDirectory, 'sandboxes', 'workspaces');
  const folders = readdirSync(workspaces).map((workspace) => path.join(workspaces, workspace, 'workspace', name));
  const found = folders.find((folder) => existsSync(path.join(folder, 'SLIPWAY_DEMO.md')));
  if (found === undefined) throw new Error(`no sandbox below ${workspaces} has worked on ${name}`);
  return found;
}

/**
 * The user views a file as the sandbox changes it, edits it, keeps what both wrote over a reload, and decides; then the
 * same on a phone.
 */
export async function editTheFiles({ page, dataDirectory, axeClean }: Harness): Promise<void> {
  const file = path.join(repositoryIn(dataDirectory, 'sample'), 'src/sum.js');
  const content = (): string => readFileSync(file, 'utf8');
  const tree = page.getByRole('tree', { name: 'Workspace files' });
  const editor = page.getByRole('textbox', { name: 'Content of sum.js' });
  const conflict = page.getByText('This file changed in the sandbox while you were editing it');
  const says = (text: string): Promise<void> => editor.getByText(text).first().waitFor(SLOW);
  const type = async (text: string): Promise<void> => {
    await editor.click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.insertText(text);
  };

  // The diff that was open before is the same file here.
  const open = new URL(page.url()).searchParams.has('file');
  await page.getByRole('tab', { name: 'Files' }).click();
  if (open) await page.getByRole('button', { name: 'Close file' }).click(SLOW);
  await tree.getByRole('treeitem', { name: 'sample' }).waitFor(SLOW);
  // The repository is open at first.
  await tree.getByRole('treeitem', { name: 'src', exact: true }).waitFor(SLOW);
  expect(await tree.getByRole('treeitem', { name: 'sample' }).getAttribute('aria-expanded')).toBe('true');
  await tree.getByRole('treeitem', { name: 'src', exact: true }).click();
  await tree.getByRole('treeitem', { name: 'sum.js' }).waitFor();
  await axeClean('the tree of the files');
  await tree.getByRole('treeitem', { name: 'sum.js' }).click();
  await says('=> a + b;');
  appendFileSync(file, '// of the sandbox\n');
  await says('// of the sandbox');

  await type('// of the person\n');
  await page.getByText('unsaved', { exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+s');
  await until('it is in the sandbox', () => content().endsWith('// of the sandbox\n// of the person\n'), SLOW.timeout);
  await page.getByText('unsaved', { exact: true }).waitFor({ state: 'detached', ...SLOW });

  await type('// mine\n');
  writeFileSync(file, '// theirs\n');
  await conflict.waitFor(SLOW);
  await page.reload();
  await conflict.waitFor(SLOW);
  await says('// mine');
  expect(content()).toBe('// theirs\n');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.cm-deletedChunk').getByText('// theirs').waitFor();
  await axeClean('both sides of a file');
  await page.setViewportSize({ width: 390, height: 844 });
  await conflict.waitFor(SLOW);
  await axeClean('both sides of a file on a phone');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page
    .getByRole('button', { name: 'Keep mine' })
    .or(page.getByRole('button', { name: 'Save merged version' }))
    .click();
  await until('mine is in the sandbox', () => content().endsWith('// of the person\n// mine\n'), SLOW.timeout);
  await page.getByRole('button', { name: 'Close file' }).click();
  await tree.waitFor(SLOW);
  await axeClean('the tree of the files on a phone');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('tab', { name: /^Changes/ }).click();
}
