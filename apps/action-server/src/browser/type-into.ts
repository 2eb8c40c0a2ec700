import { stat } from 'node:fs/promises';
import type { BrowserTypeAction } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { fileError } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { type Described, elementOf } from './click-element.js';
import { CHOOSE_OPTION, DESCRIBE_ELEMENT, FOCUS_FIELD, ORIGIN_OF, SET_VALUE, TYPE_SECRET } from './page-scripts.js';
import type { PageElement } from './page-world.js';
import type { Tab } from './tab.js';
import { namesSecret, withSecrets } from './typed-secrets.js';
import { within } from './within.js';

/**
 * Up to this length each key is pressed, for pages that listen to keys; a longer text comes at once. UTF-16 code units.
 */
const KEYS_LENGTH = 200;
/** Fields that take a value and no keys. */
const VALUES = /^(?:date|datetime-local|month|week|time|color|range)$/;
/** Fields that take text. */
const TEXTS = /^(?:text|search|url|tel|email|password|number|)$/;

/** What typing may draw upon: files and secrets. */
export interface Typist {
  readonly workspace: string;
  readonly environment: ShellEnvironment;
}

/** Puts the text in place of what the field holds. @returns what was done, without the text: it may be a password. */
export async function typeInto(
  tab: Tab,
  { index, text }: z.output<typeof BrowserTypeAction>,
  { workspace, environment }: Typist,
  signal: AbortSignal,
): Promise<string> {
  const { element, label } = await elementOf(tab, index, signal);
  const { tag, type, editable, disabled, readOnly } = await element.ask<Described>(DESCRIBE_ELEMENT);
  if (disabled || readOnly)
    throw new SlipwayError('browser.refused', `Not typed: ${label} is ${disabled ? 'disabled' : 'read-only'}.`);
  if (namesSecret(text)) return typeSecret(tab, { element, label, tag, type }, text, environment);
  if (tag === 'select') return choose(element, label, text);
  if (type === 'file') return giveFile(element, label, text, workspace);
  if (tag === 'input' && VALUES.test(type)) {
    const value = await element.ask<string>(SET_VALUE, text);
    if (value === '' && text !== '')
      throw new SlipwayError(
        'browser.refused',
        `Not typed: ${label} takes no such value. Write it as HTML does, for example 2030-12-31 or 13:45.`,
      );
    return `${label} has the value ${JSON.stringify(value.slice(0, 100))}.`;
  }
  if (!(tag === 'textarea' || editable || (tag === 'input' && TEXTS.test(type))))
    throw new SlipwayError('browser.refused', `Not typed: ${label} is no field for text. Click it.`);
  await element.middle().catch(() => {});
  if (!(await element.ask<boolean>(FOCUS_FIELD)))
    throw new SlipwayError('browser.refused', `Not typed: ${label} does not take the focus. Click it first.`);
  await within(
    press(tab, text, editable),
    5 * tab.patienceMs,
    signal,
    'The page does not take the text: its script keeps it busy.',
  );
  return `Typed ${text.length} characters into ${label}.`;
}

interface Field extends Pick<Described, 'tag' | 'type'> {
  readonly element: PageElement;
  /** As the model knows it. */
  readonly label: string;
}

async function typeSecret(
  { page }: Tab,
  { element, label, tag, type }: Field,
  text: string,
  environment: ShellEnvironment,
): Promise<string> {
  if (!(tag === 'textarea' || (tag === 'input' && TEXTS.test(type))))
    throw new SlipwayError(
      'browser.refused',
      `Not typed: ${label} is no field for text, and a secret is typed into no other.`,
    );
  const enter = text.endsWith('\n');
  const secret = withSecrets(enter ? text.slice(0, -1) : text, await element.ask<string>(ORIGIN_OF), environment);
  await element.middle().catch(() => {});
  if (!(await element.ask<boolean>(TYPE_SECRET, secret.text)))
    throw new SlipwayError('browser.refused', `Not typed: ${label} does not take it. Click it first.`);
  if (enter) await page.keyboard.press('Enter');
  return `Typed the secret ${secret.names.join(', ')} into ${label}. It is in no state and covered in pictures; the page itself has it.`;
}

async function press({ page }: Tab, text: string, editable: boolean): Promise<void> {
  const enter = text.endsWith('\n');
  const body = enter ? text.slice(0, -1) : text;
  if (body === '' && !enter) await page.keyboard.press('Delete');
  for (const [at, part] of (editable ? body.split('\n') : [body]).entries()) {
    if (at > 0) await page.keyboard.press('Shift+Enter');
    if (part === '') continue;
    if (part.length <= KEYS_LENGTH && !part.includes('\n')) await page.keyboard.type(part);
    else await page.keyboard.insertText(part);
  }
  if (enter) await page.keyboard.press('Enter');
}

async function choose(element: PageElement, label: string, text: string): Promise<string> {
  const { chosen, options } = await element.ask<{ chosen: string | null; options: string[] }>(
    CHOOSE_OPTION,
    text.trim(),
  );
  if (chosen === null)
    throw new SlipwayError(
      'browser.refused',
      `${label} has no such option. It has: ${options
        .map((option) => JSON.stringify(option))
        .join(', ')
        .slice(0, 2_000)}`,
    );
  return `${label} has ${JSON.stringify(chosen)} chosen.`;
}

async function giveFile(element: PageElement, label: string, text: string, workspace: string): Promise<string> {
  const wanted = text.trim();
  const file = await insideWorkspace(workspace, wanted);
  const found = await stat(file).catch((error: unknown) => {
    throw fileError(error, wanted);
  });
  if (!found.isFile()) throw new SlipwayError('request.invalid', `${wanted} is no file.`);
  await element.setFile(file);
  return `${label} has the file ${wanted} (${found.size} bytes).`;
}
