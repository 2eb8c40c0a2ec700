import { expect, it } from '@jest/globals';
import { afterTest } from '@slipway/testing/jest';
import type { Browser } from 'playwright-core';
import { expectClean } from '../e2e/browser.ts';
import type { IdentityWorld } from './identity-world.ts';
import { UserInChromium } from './user-in-chromium.ts';

const ACCENT = { light: 'rgb(47, 85, 212)', dark: 'rgb(138, 166, 255)' } as const;

/** Keycloak's own pages, as `keycloak/themes/slipway` dresses them. */
export function describeTheme(world: () => IdentityWorld, browser: () => Browser): void {
  it('its pages have our name, mark and colours, light and dark, on a phone and a wide screen, and are clean for who cannot see them', async () => {
    const user = await UserInChromium.at(browser(), `${world().url}/oauth/login`);
    afterTest(() => user.close());
    const { page } = user;
    await page.getByText('Slipway', { exact: true }).waitFor();
    const mark = await page.evaluate(
      () =>
        /url\("(.+)"\)/.exec(
          getComputedStyle(document.querySelector('#kc-header-wrapper') as Element, '::before').backgroundImage,
        )?.[1],
    );
    expect(await (await page.request.get(mark ?? '')).text()).toContain('<title>Slipway</title>');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const button = page.locator('#kc-login');
      await page.waitForFunction(
        ([color]) => getComputedStyle(document.querySelector('#kc-login') as Element).backgroundColor === color,
        [ACCENT[colorScheme]],
      );
      expect(await button.isVisible()).toBe(true);
    }
    await expectClean(page, 'sign-in', 'everyTheme');
    await page.getByRole('link', { name: 'Register' }).click();
    await page.locator('input[name="firstName"]').waitFor();
    await expectClean(page, 'register', 'everyTheme');
  });
}
