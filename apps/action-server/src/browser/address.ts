import { pathToFileURL } from 'node:url';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';
import type { Place } from './chromium.js';

/**
 * Files of the workspace are pages of this host, which the browser's own proxy answers (`workspace-pages.ts`): Chromium
 * itself opens no file.
 */
export const WORKSPACE_HOST = 'workspace.localhost';
const WORKSPACE_ORIGIN = `http://${WORKSPACE_HOST}`;

/** Where a page of this address belongs. */
export function placeOf(url: string): Place {
  return URL.canParse(url) && new URL(url).host === WORKSPACE_HOST ? 'workspace' : 'sites';
}

const THIS_MACHINE = /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])(?::|\/|$)/i;

/**
 * The address that Chromium is sent to for what the agent or a user wrote. Without a scheme: http for this machine,
 * https for others.
 * @throws SlipwayError `browser.refused`, `file.outside-workspace`.
 */
export async function addressOf(wanted: string, workspace: string): Promise<string> {
  const text = wanted.trim();
  if (text === 'about:blank') return text;
  const named = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text)
    ? text
    : `${THIS_MACHINE.test(text) ? 'http' : 'https'}://${text}`;
  const url = URL.canParse(named) ? new URL(named) : null;
  if (url === null)
    throw new SlipwayError('browser.refused', `${shown(text)} is no address. Write it as https://example.com/page.`);
  if (url.protocol === 'file:') {
    if (url.host !== '')
      throw new SlipwayError(
        'browser.refused',
        `${shown(text)} names another machine. Files of the workspace are file:///…`,
      );
    const root = await insideWorkspace(workspace, '.');
    const file = await insideWorkspace(workspace, decoded(url.pathname));
    return `${WORKSPACE_ORIGIN}${pathToFileURL(file).pathname.slice(pathToFileURL(root).pathname.length) || '/'}${url.search}${url.hash}`;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new SlipwayError(
      'browser.refused',
      `The browser opens http, https and files of the workspace, not ${url.protocol.slice(0, 40)}`,
    );
  return url.href;
}

/**
 * The address as the agent knows it: a page of the workspace is a file, and no name or password is in it. At most 2,000
 * code units.
 */
export function shownAddress(url: string, workspace: string): string {
  const known = url === WORKSPACE_ORIGIN || url.startsWith(`${WORKSPACE_ORIGIN}/`);
  const plain = url.replace(/^(https?:\/\/)[^/?#@]*@/i, '$1');
  const text = known ? `${pathToFileURL(workspace).href}${url.slice(WORKSPACE_ORIGIN.length)}` : plain;
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}

/** Without its percent signs; as it is where they mean nothing. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
