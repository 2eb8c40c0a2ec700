import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import type { Page } from 'playwright-core';
import type { Watching } from './watching.test.ts';

/**
 * Whoever manages to put HTML into a page gets no script to run: neither an element nor a handler, with whatever nonce
 * they make up. What runs all the same takes nothing out: no request, picture, beacon, socket, form or frame goes to
 * another origin.
 */
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
      await takeNothingOut(other);
    }
  } finally {
    await other.close();
  }
}

/** Every way out that a script of a page has, to a server that listens. */
async function takeNothingOut(page: Page): Promise<void> {
  const heard: string[] = [];
  const foreign = createServer(({ method, url }, response) => {
    heard.push(`${method} ${url}`);
    response.setHeader('access-control-allow-origin', '*').end();
  });
  foreign.on('upgrade', ({ url }, socket) => {
    heard.push(`UPGRADE ${url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  try {
    // It can be reached: without the policy it would be.
    expect((await fetch(`http://${host}/alive`)).status).toBe(200);
    const from = await page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations.length);
    await page.evaluate((at) => {
      fetch(`http://${at}/fetch`).catch(() => {});
      navigator.sendBeacon(`http://${at}/beacon`, 'secret');
      try {
        new WebSocket(`ws://${at}/socket`);
      } catch {}
      new Image().src = `http://${at}/picture`;
      for (const [tag, name] of [
        ['script', 'src'],
        ['iframe', 'src'],
      ] as const) {
        const element = document.createElement(tag);
        element.setAttribute(name, `http://${at}/${tag}`);
        document.body.append(element);
      }
      const form = document.createElement('form');
      form.action = `http://${at}/form`;
      form.method = 'post';
      form.target = '_blank';
      document.body.append(form);
      form.submit();
    }, host);
    const refused = await until('all are refused', async () => {
      const seen = await page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);
      return seen.length >= from + 7 ? seen.slice(from).map((each) => each.split(' ')[0]) : undefined;
    });
    expect([...refused].sort()).toEqual([
      'connect-src',
      'connect-src',
      'connect-src',
      'form-action',
      'frame-src',
      'img-src',
      'script-src-elem',
    ]);
    expect(heard).toEqual(['GET /alive']);
  } finally {
    foreign.closeAllConnections();
    await new Promise((resolve) => foreign.close(resolve));
  }
}
