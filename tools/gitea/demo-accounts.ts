import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type GiteaServer, GiteaUser } from '@slipway/testing/gitea';
import { DEMO_PROJECT, fillProject, LABEL } from './demo-project.ts';

/**
 * Who comments and pushes for Slipway: another account than the user's, so that its own words are distinct from theirs.
 */
const BOT = 'slipway-bot';
const USER = 'demo';

export interface DemoAccounts {
  readonly user: { readonly login: string; readonly password: string };
  readonly bot: { readonly id: number; readonly login: string; readonly token: string };
  /** `owner/name`. */
  readonly repository: string;
}

const accountsFile = (home: string): string => path.join(home, 'demo.json');

/** Whether `demoAccounts` came to its end in this folder. */
export const isFilled = (home: string): boolean => existsSync(accountsFile(home));

/** Made at the first start of a folder, and kept in it, readable by its owner only. */
export async function demoAccounts(server: GiteaServer): Promise<DemoAccounts> {
  const file = accountsFile(server.home);
  if (isFilled(server.home)) {
    const { person, ...stored } = JSON.parse(await readFile(file, 'utf8')) as DemoAccounts & {
      person?: DemoAccounts['user'];
    };
    // Files of before 2026-11-26 say `person`.
    return person === undefined ? stored : { ...stored, user: person };
  }
  const password = randomBytes(9).toString('base64url');
  await server.createAdmin(USER, password);
  const user = await GiteaUser.signIn(server.url, USER, password);
  const shop = await user.createRepository(DEMO_PROJECT);
  await fillProject(shop);
  const bot = await user.createUser(BOT, randomBytes(24).toString('base64url'));
  // An admin of this one repository: webhooks need that right.
  await shop.addCollaborator(BOT, 'admin');
  const token = await bot.createToken('slipway', ['write:repository', 'write:issue', 'read:user', 'read:organization']);
  const accounts: DemoAccounts = {
    user: { login: USER, password },
    bot: { id: (await bot.self()).id, login: BOT, token },
    repository: `${shop.owner}/${shop.name}`,
  };
  await writeFile(file, JSON.stringify(accounts), { mode: 0o600 });
  return accounts;
}

/** What a user needs to know, for the terminal. */
export function instructions(url: string, { user, bot, repository }: DemoAccounts, home: string): string {
  return `
Gitea is ready.

  Open      ${url}/${repository}
  Sign in   ${user.login} / ${user.password}
  Data      ${home}

To connect it, open Integrations in an organization of Slipway and add Gitea:

  Host      ${new URL(url).host}   (${url})
  Account   ${bot.login}, whose id is ${bot.id}; it may write to ${repository} and make webhooks there
  Token     ${bot.token}

On the connection's page, under Webhooks, enter ${repository} and press Make the webhook. Link your account (settings, Linked accounts).
Then put the label "${LABEL}" on issue 1, on its page or with

  curl -u '${user.login}:${user.password}' -H 'content-type: application/json' -d '{"labels":["${LABEL}"]}' ${url}/api/v1/repos/${repository}/issues/1/labels

Ctrl-C stops it; what it has is kept.
`;
}
