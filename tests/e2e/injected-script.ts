import { expect } from 'expect';
import type { Watching } from './watching.test.ts';

/** Whoever manages to put HTML into a page gets no script to run: neither an element nor a handler, with whatever nonce they make up. */
export async function refuseInjectedScripts({ page }: Watching): Promise<void> {
  const address = page.url();
  const other = await page.context().newPage();
  try {
    await other.addInitScript(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { violations: seen });
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        // zod asks once whether it may compile its checks; it may not, as before, and goes on without.
        if (blockedURI !== 'eval') seen.push(`${violatedDirective} ${blockedURI}`);
      });
    });
    for (const place of [address, new URL('/', address).href, new URL('/settings/profile', address).href]) {
      await other.goto(place);
      await other.getByRole('main').first().waitFor();
      await other.waitForLoadState('networkidle');
      const violations = () => other.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);
      expect([place, await violations()]).toEqual([place, []]);
      const ran = await other.evaluate(async () => {
        const script = document.createElement('script');
        script.textContent = 'globalThis.injected = 1';
        script.setAttribute('nonce', 'made-up');
        document.body.append(script);
        const picture = document.createElement('div');
        picture.innerHTML = '<img src="data:," onerror="globalThis.injected = 2">';
        document.body.append(picture);
        await new Promise((resolve) => setTimeout(resolve, 500));
        return 'injected' in globalThis;
      });
      expect([place, ran]).toEqual([place, false]);
      expect((await violations()).map((violation) => violation.split(' ')[1])).toEqual(['inline', 'inline']);
    }
  } finally {
    await other.close();
  }
}
