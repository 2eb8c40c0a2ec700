import { expect, it } from '@jest/globals';
import { AppOfIssuer } from '@slipway/auth/testing';
import { oneTimeCode, until } from '@slipway/testing';
import { afterTest } from '@slipway/testing/jest';
import type { Browser } from 'playwright-core';
import { type IdentityWorld, realmFor } from './identity-world.ts';
import { MailSink } from './mail-sink.ts';
import { UserInChromium } from './user-in-chromium.ts';

const LIN = {
  username: 'lin',
  password: 'correct horse',
  email: 'lin@example.test',
  firstName: 'Lin',
  lastName: 'Yutang',
};

/** What an operator may require of all users before sign-in. */
export function describeGates(world: () => IdentityWorld, browser: () => Browser): void {
  it('admits no user before their e-mail address is verified and an authenticator is set up, where the realm requires both', async () => {
    const [app, mail] = [await AppOfIssuer.listen(), await MailSink.listen()];
    const smtp = { host: '127.0.0.1', port: mail.port, from: 'slipway@example.test', tls: false };
    await world().keycloak.admin.makeRealm(realmFor('strict', app.url, { smtp, verifyEmail: true, totp: 'required' }));
    const issuer = world().issuer(app.url, 'strict');
    const begun = await issuer.begin();
    const user = await UserInChromium.at(browser(), begun.url);
    const { page } = user;
    afterTest(async () => {
      await user.close();
      await mail.close();
      await app.close();
    });
    await user.register(LIN);
    let secret: string | undefined;
    // The realm decides which comes first.
    for (let step = 0; step < 5 && !page.url().startsWith(app.redirectUri); step += 1) {
      if (await page.locator('input[name="totp"]').isVisible()) {
        await page.locator('#mode-manual').click();
        secret = await page.locator('#kc-totp-secret-key').innerText();
        await user.fill({ totp: oneTimeCode(secret), userLabel: 'phone' });
      } else if (await page.locator('input[name="password-new"]').isVisible()) {
        await user.fill({ 'password-new': LIN.password, 'password-confirm': LIN.password });
      } else {
        await page.getByRole('heading', { name: 'Email verification' }).waitFor();
        await page.goto(await until('the message has come', () => mail.linkFor(LIN.email)));
      }
    }
    expect(page.url()).toContain(app.redirectUri);
    const { identity } = await issuer.finish(new URL(page.url()).search.slice(1), begun.transaction);
    expect(identity).toMatchObject({ name: 'Lin Yutang', email: LIN.email, emailVerified: true });

    const again = await issuer.begin({ prompt: 'login' });
    const elsewhere = await UserInChromium.at(browser(), again.url);
    afterTest(() => elsewhere.close());
    await elsewhere.fill({ username: LIN.username, password: LIN.password });
    await elsewhere.fill({ otp: '000000' });
    await elsewhere.page.getByText('Invalid authenticator code.').waitFor();
    // A code counts once: the next one, which the realm takes early.
    await elsewhere.fill({ otp: oneTimeCode(secret ?? '', 1) });
    await elsewhere.page.waitForURL(`${app.redirectUri}**`);
    expect(
      (await issuer.finish(new URL(elsewhere.page.url()).search.slice(1), again.transaction)).identity.subject,
    ).toBe(identity.subject);
  });
}
