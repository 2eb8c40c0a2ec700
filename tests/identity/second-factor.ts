import { expect, it } from '@jest/globals';
import { AppOfIssuer } from '@slipway/auth/testing';
import { oneTimeCode } from '@slipway/testing';
import { afterTest } from '@slipway/testing/jest';
import type { Browser } from 'playwright-core';
import { type IdentityWorld, realmFor } from './identity-world.ts';
import { UserInChromium } from './user-in-chromium.ts';

const CLEO = {
  username: 'cleo',
  password: 'correct horse',
  firstName: 'Cleo',
  lastName: 'Patra',
  email: 'cleo@example.test',
} as const;
const BEA = {
  username: 'bea',
  password: 'correct horse',
  firstName: 'Bea',
  lastName: 'Potter',
  email: 'bea@example.test',
} as const;

/** What an organization's rules and a switch of accounts need of the realm. */
export function describeSecondFactor(world: () => IdentityWorld, browser: () => Browser): void {
  it('a sign-in that wants a second factor has it set up by who has none; from then on the tokens say so, asked for or not', async () => {
    const app = await AppOfIssuer.listen();
    const admin = await world().keycloak.admin.makeRealm(realmFor('factors', app.url, { stepUp: true }));
    await admin.createUser(CLEO);
    const issuer = world().issuer(app.url, 'factors');
    afterTest(() => app.close());
    const signIn = async (
      options: Parameters<typeof issuer.begin>[0],
      code: (user: UserInChromium) => Promise<void>,
    ) => {
      const { url, transaction } = await issuer.begin(options);
      const user = await UserInChromium.at(browser(), url);
      try {
        await user.fill({ username: CLEO.username, password: CLEO.password });
        await code(user);
        await user.page.waitForURL(`${app.redirectUri}**`);
        return (await issuer.finish(new URL(user.page.url()).search.slice(1), transaction)).identity;
      } finally {
        await user.close();
      }
    };
    expect(await signIn({}, async () => {})).toMatchObject({ secondFactor: false, authenticatedAt: expect.any(Date) });
    let secret = '';
    const first = await signIn({ prompt: 'login', secondFactor: true }, async (user) => {
      await user.page.locator('#mode-manual').click();
      secret = await user.page.locator('#kc-totp-secret-key').innerText();
      await user.fill({ totp: oneTimeCode(secret), userLabel: 'phone' });
    });
    expect(first.secondFactor).toBe(true);
    // A code counts once: the next one, which the realm takes early.
    expect((await signIn({}, (user) => user.fill({ otp: oneTimeCode(secret, 1) }))).secondFactor).toBe(true);
  });

  it('who switches accounts is asked for any name and password, not for those of who was signed in, and comes to where they were led', async () => {
    await world().keycloak.admin.createUser(BEA);
    const cleo = { ...CLEO, username: 'cleo-here', email: 'cleo-here@example.test' };
    await world().keycloak.admin.createUser(cleo);
    const me = `${world().url}/api/v1/me`;
    const user = await UserInChromium.at(browser(), `${world().url}/oauth/login?redirect=/api/v1/me`);
    afterTest(() => user.close());
    await user.fill({ username: cleo.username, password: cleo.password });
    expect(await user.json(me)).toMatchObject({ name: 'Cleo Patra' });
    await user.page.goto(`${world().url}/oauth/login?switch=1&login_hint=${BEA.email}&redirect=/api/v1/me`);
    expect(await user.page.locator('input[name="username"]').inputValue()).toBe(BEA.email);
    await user.fill({ username: BEA.username, password: BEA.password });
    expect(await user.json(me)).toMatchObject({ name: 'Bea Potter' });
  });
}
