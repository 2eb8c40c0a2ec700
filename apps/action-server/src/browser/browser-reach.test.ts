import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { afterTest, describeUnless } from '@slipway/testing/jest';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { noChromium, startTestSite, type TestBrowser, type TestSite, testBrowser } from '../testing/test-browser.js';
import { BrowserProxy } from './browser-proxy.js';
import { wayOutTo } from './way-out.js';

/** Asks for each address in each way that a page has, and has `done` as its title then. */
const probe = (addresses: readonly string[]) => `<title>probing</title><script>(async () => {
  for (const url of ${JSON.stringify(addresses)}) {
    await fetch(url, { mode: 'no-cors' }).catch(() => {});
    await fetch(url, { method: 'POST', mode: 'no-cors', body: 'x' }).catch(() => {});
    await new Promise((end) => { const picture = new Image(); picture.onload = picture.onerror = end; picture.src = url; });
    await new Promise((end) => { try { const socket = new WebSocket(url.replace('http', 'ws')); socket.onopen = socket.onerror = end; } catch { end(); } });
  }
  const frame = document.createElement('iframe'); frame.src = ${JSON.stringify(addresses)}[0]; frame.onload = () => { document.title = 'done'; }; document.body.append(frame);
})();</script><body>`;

describeUnless(noChromium)('what a page of the browser may reach', () => {
  /** Stands for the sandbox's own servers. */
  let own: TestSite;
  let site: TestSite;
  let here: TestBrowser;
  /** The sandbox's own, and what it was asked. */
  let proxy: http.Server;
  const asked: string[] = [];
  beforeAll(async () => {
    own = await startTestSite(() => ({ '/': 'of the sandbox', '/secret': 'of the sandbox' }));
    const names = [
      '127.0.0.1',
      'localhost',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '127.9.9.9',
      'a.localhost',
      '2130706433',
      os.hostname(),
    ];
    site = await startTestSite((url) => ({
      '/probe': probe([
        ...names.map((name) => `http://${name}:${own.port}/`),
        `${url}/redirect`,
        `${url}/redirect-far`,
      ]),
      '/redirect': (_request, response) =>
        void response.writeHead(302, { location: `http://127.0.0.1:${own.port}/secret` }).end(),
      '/redirect-far': (_request, response) => void response.writeHead(307, { location: `${url}/redirect` }).end(),
      '/fine': '<title>A server for development</title>',
      '/steals': `<title>before</title><script>fetch('http://workspace.localhost/notes.txt', { mode: 'no-cors' }).then(() => document.title = 'asked');</script><iframe src="http://workspace.localhost/notes.txt"></iframe><script src="http://workspace.localhost/code.js"></script>`,
    }));
    proxy = http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Through the proxy</title>');
    });
    proxy.on('connect', (request, socket: net.Socket) => {
      asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = `http://sandbox:pa%3Ass@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const environment = new ShellEnvironment({
      PATH: process.env['PATH'],
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      NO_PROXY: '127.0.0.1,localhost',
    });
    here = await testBrowser({ environment, refusedPorts: () => new Set([own.port]) });
  });
  afterAll(async () => {
    await here.close();
    proxy.closeAllConnections();
    proxy.close();
    site.close();
    own.close();
  });
  const open = (url: string) => here.act({ kind: 'BrowserNavigateAction', url });

  it('is never a server of the sandbox itself: not by any name of this machine, not by a redirect, not by a WebSocket, not when the agent goes there', async () => {
    await open(`${site.url}/probe`);
    await until(
      'the page has tried all',
      () =>
        here.browser
          .current()
          ?.page.title()
          .then((title) => title === 'done'),
      30_000,
    );
    for (const url of [
      `http://127.0.0.1:${own.port}/`,
      `localhost:${own.port}`,
      `https://127.0.0.1:${own.port}/`,
      `${site.url}/redirect`,
    ])
      expect((await open(url)).text).toContain(`Port ${own.port} of this machine belongs to the sandbox's own servers`);
    expect(own.asked).toEqual([]);
  });

  it('is a server for development on this machine', async () => {
    expect((await open(`localhost:${site.port}/fine`)).page?.title).toBe('A server for development');
  });

  it('is a file of the workspace for pages of the workspace, and for no other site; nothing outside of it', async () => {
    await writeFile(
      path.join(here.workspace, 'index.html'),
      '<title>Mine</title><link rel="stylesheet" href="style.css"><script src="code.js"></script>',
    );
    await writeFile(path.join(here.workspace, 'style.css'), 'body { color: rgb(1, 2, 3) }');
    await writeFile(path.join(here.workspace, 'code.js'), 'document.title += " works"');
    await writeFile(path.join(here.workspace, 'notes.txt'), 'notes');
    await symlink('/etc/passwd', path.join(here.workspace, 'link'));
    const mine = await open(`file://${here.workspace}/index.html`);
    expect(mine.page).toMatchObject({ url: `file://${here.workspace}/index.html`, title: 'Mine works' });
    const page = here.browser.current()?.page;
    expect(await page?.evaluate('getComputedStyle(document.body).color')).toBe('rgb(1, 2, 3)');
    expect(await page?.evaluate(`fetch('/link').then((answer) => answer.status)`)).toBe(404);
    expect(await page?.evaluate(`fetch('/%2e%2e/%2e%2e/etc/passwd').then((answer) => answer.status)`)).toBe(404);
    expect((await open(`file://${here.workspace}/link`)).error_code).toBe('file.outside-workspace');
    await open(`${site.url}/steals`);
    await until(
      'the page has asked',
      () =>
        here.browser
          .current()
          ?.page.title()
          .then((title) => title !== 'before'),
      30_000,
    );
    const shown = await until('its frame has come', async () => {
      const frames = here.browser.current()?.page.frames() ?? [];
      const texts = await Promise.all(frames.map((frame) => frame.evaluate<string>('document.body.innerText')));
      return texts.some((text) => text.includes('not for pages of other sites')) ? texts : null;
    });
    expect(shown).not.toContain('notes');
    expect(await here.browser.current()?.page.title()).toBe('asked');
  });

  it('is what the proxy of the sandbox lets through, with its credential, and this machine without it', async () => {
    asked.length = 0;
    expect((await open('http://far.example/page?q=1')).page?.title).toBe('Through the proxy');
    expect((await open('https://far.example/')).text).toContain('cannot be reached from this sandbox');
    const local = await open(`${site.url}/fine`);
    expect([local.text, local.page?.title]).toEqual([
      expect.stringContaining('The page is there.'),
      'A server for development',
    ]);
    const credential = `Basic ${Buffer.from('sandbox.browser:pa:ss').toString('base64')}`;
    // What Chromium asks for by itself, and again, does not matter here.
    const ours = new Set(asked.filter((line) => line.includes('far.example') && !line.includes('favicon')));
    expect([...ours]).toEqual([
      `GET http://far.example/page?q=1 ${credential}`,
      `CONNECT far.example:443 ${credential}`,
    ]);
  });
});

describe('the way out of the browser', () => {
  const options = (variables: Record<string, string>) => ({
    variables: () => variables,
    refusedPorts: () => new Set([8000]),
  });
  const proxied = {
    HTTPS_PROXY: 'http://proxy.test:3128',
    NO_PROXY: 'internal.test, .svc.local,10.0.0.0/8,only.test:8443',
  };

  it('is the proxy except for what NO_PROXY names, and never for this machine', async () => {
    const kinds = [
      'far.test',
      'internal.test',
      'a.internal.test',
      'notinternal.test',
      'x.svc.local',
      '10.1.2.3',
      'only.test',
      'localhost',
      '127.0.0.1',
      '[::1]',
    ];
    const ways = await Promise.all(
      kinds.map(async (host) => [host, (await wayOutTo(host, 443, options(proxied))).kind]),
    );
    expect(Object.fromEntries(ways)).toEqual({
      'far.test': 'proxy',
      'internal.test': 'unreachable',
      'a.internal.test': 'unreachable',
      'notinternal.test': 'proxy',
      'x.svc.local': 'unreachable',
      '10.1.2.3': 'direct',
      'only.test': 'proxy',
      localhost: 'direct',
      '127.0.0.1': 'direct',
      '[::1]': 'direct',
    });
  });

  it('is refused to the metadata of a cloud, with and without a proxy', async () => {
    for (const host of [
      '169.254.169.254',
      '[fe80::1]',
      '[fd00:ec2::23]',
      '[::ffff:169.254.169.254]',
      '168.63.129.16',
      '100.100.100.200',
      '[fd20:ce::254]',
      'metadata.google.internal',
    ])
      for (const variables of [{}, proxied, { ...proxied, HTTP_PROXY: 'http://proxy.test:3128' }])
        expect([host, (await wayOutTo(host, 80, options(variables))).kind]).toEqual([host, 'refused']);
  });

  it('never leads to the sandbox’s own servers by an address of this machine, also one of IPv4 that is written as one of IPv6', async () => {
    const own = Object.values(os.networkInterfaces()).flatMap(
      (list) => list?.filter(({ family }) => family === 'IPv4').map(({ address }) => address) ?? [],
    );
    expect(own).toContain('127.0.0.1');
    for (const address of own)
      for (const host of [address, `[::ffff:${address}]`, new URL(`http://[::ffff:${address}]/`).hostname])
        expect([host, (await wayOutTo(host, 8000, options({}))).kind]).toEqual([host, 'refused']);
  });

  it('holds against servers that answer nonsense', async () => {
    const hostile = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n'));
    });
    hostile.listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    const proxy = await BrowserProxy.start({ variables: () => ({}), refusedPorts: () => new Set(), refused: () => {} });
    afterTest(() => {
      proxy.close();
      hostile.close();
    });
    const target = `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) =>
      http
        .get(
          `http://127.0.0.1:${proxy.port}`,
          { path: `http://${target}/`, headers: { 'sec-fetch-site': 'none' } },
          resolve,
        )
        .once('error', reject),
    );
    answer.resume();
    expect(answer.statusCode).toBe(502);
  });
});
