import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { GiteaServer, GiteaUser, missingForGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { demoAccounts, instructions } from '../../tools/gitea/demo-accounts.ts';
import { WorkCopy } from './work-copy.ts';

const missing = await missingForGitea();

describeUnless(missing)('what npm run gitea makes', () => {
  it("is a project whose test fails as its issue says, and an account that may do a platform's work in it and nothing else", async () => {
    const home = await mkdtemp(path.join(os.tmpdir(), 'slipway-demo-'));
    const server = await GiteaServer.open({ home });
    const copies: WorkCopy[] = [];
    try {
      const accounts = await demoAccounts(server);
      expect(await demoAccounts(server)).toEqual(accounts);
      expect((await stat(path.join(home, 'demo.json'))).mode & 0o077).toBe(0);
      const { user, bot } = accounts;
      for (const said of [user.password, bot.token, `${server.url}/demo/shop`])
        expect(instructions(server.url, accounts, home)).toContain(said);
      await GiteaUser.signIn(server.url, user.login, user.password);

      const slipway = new GiteaUser(server.url, bot.login, '', bot.token);
      const shop = slipway.repository('demo', 'shop');
      const copy = await WorkCopy.clone(slipway.cloneUrl(shop));
      copies.push(copy);
      const npmTest = (): number | null =>
        spawnSync(process.execPath, ['--test'], { cwd: copy.folder, env: { PATH: process.env['PATH'] } }).status;
      expect(npmTest()).toBe(1);
      await copy.git('switch', '--quiet', '--create', 'slipway/1');
      const right =
        'export const total = (basket) => basket.reduce((sum, line) => sum + line.quantity * line.price, 0);\n';
      await copy.commit({ 'src/total.js': right }, 'Count each line as often as its quantity says');
      expect(npmTest()).toBe(0);

      await copy.git('push', '--quiet', 'origin', 'slipway/1');
      const pull = await shop.openPullRequest({ title: 'Count quantities', head: 'slipway/1', body: 'Fixes #1' });
      await shop.comment(1, 'I am on it.');
      await shop.createWebhook({ url: 'http://127.0.0.1:3000/hook', secret: 'x'.repeat(20) });
      expect(await shop.pullRequests()).toEqual([expect.objectContaining({ number: pull.number })]);
      await expect(slipway.createRepository({ name: 'mine' })).rejects.toMatchObject({ status: 403 });
      await expect(slipway.call('GET', '/admin/users')).rejects.toMatchObject({ status: 403 });
    } finally {
      await server.close();
      await rm(home, { recursive: true, force: true });
      for (const copy of copies) await copy.remove();
    }
  });
});
