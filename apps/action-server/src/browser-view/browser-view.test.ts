import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { BrowserAction, type BrowserObservation } from '@slipway/contracts/actions';
import { BROWSER_FRAMES_UNSEEN } from '@slipway/contracts/live';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import type { z } from 'zod';
import { Browser } from '../browser/browser.js';
import { findChromium } from '../browser/find-chromium.js';
import { createHttpServer } from '../http/server.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { textOf } from '../testing/running-server.js';
import { BrowserView } from './browser-view.js';
import { WatchingUser } from './testing/watching-user.js';

const TOKEN = 'a-token-for-tests-of-32-characters';
const found = findChromium(process.env);
const never = new AbortController().signal;

/** What a page does is written into its title, which the view reports. */
const PAGES: Readonly<Record<string, string>> = {
  '/still': '<title>Still</title><body style="margin:0;background:#fff">still',
  '/moving':
    '<title>Moving</title><body style="margin:0"><div id=a style="height:800px"></div><script>let n=0;const f=()=>{n+=1;a.style.background="hsl("+(n%360)+" 90% 50%)";requestAnimationFrame(f)};f();globalThis.painted=()=>n</script>',
  '/form': `<title>Form</title><body style="margin:0;height:3000px"><button id=b style="position:fixed;left:100px;top:100px;width:100px;height:50px">B</button>
    <input id=i style="position:fixed;left:300px;top:100px;width:300px;height:50px">
    <script>b.onclick=()=>document.title='pressed';i.oninput=()=>document.title='typed '+i.value;
    addEventListener('keydown',(e)=>{if(e.target!==i)document.title='down '+e.key});addEventListener('keyup',(e)=>{if(e.key==='Shift')document.title='up '+e.key});
    addEventListener('scroll',()=>document.title='scrolled');addEventListener('mousemove',(e)=>globalThis.at=[e.clientX,e.clientY]);</script>`,
  '/broken':
    '<title>Broken</title><script>console.error("the first complaint");setTimeout(()=>{throw new Error("nobody caught this")})</script>',
  '/opener':
    '<title>Opener</title><body style="margin:0"><a href="/still" target="_blank" style="position:fixed;left:0;top:0;width:200px;height:200px">open</a>',
};

jest.setTimeout(120_000);

describeUnless('missing' in found ? found.missing : false)('the view of the browser', () => {
  let folder: string;
  let pages: Server;
  let site: string;
  let browser: Browser;
  let view: BrowserView;
  let server: Server;
  const people: WatchingUser[] = [];
  /** The usual ones, but where a test is about them. */
  const times: { waitMs?: number; awayMs?: number } = {};

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-view-'));
    await mkdir(path.join(folder, 'workspace'));
    pages = createServer((request, response) => {
      if (request.url !== '/never')
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(PAGES[request.url ?? ''] ?? '<title>Other</title>');
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    browser = new Browser({
      environment: new ShellEnvironment(process.env),
      workspace: path.join(folder, 'workspace'),
      directory: path.join(folder, 'browser'),
      refusedPorts: () => new Set(),
    });
    view = new BrowserView(browser, times);
    server = await serve(view);
  });

  afterAll(async () => {
    view?.close();
    browser?.close();
    server?.close();
    server?.closeAllConnections();
    pages?.close();
    pages?.closeAllConnections();
    await until('the browser is gone', () => rm(folder, { recursive: true, force: true }).then(() => true));
  });

  afterEach(async () => {
    for (const user of people.splice(0)) user.close();
    for (const name of ['waitMs', 'awayMs'] as const) delete times[name];
  });

  const act = (action: z.input<typeof BrowserAction>): Promise<BrowserObservation> =>
    view.execute(BrowserAction.parse(action), never);
  const goTo = async (page: string): Promise<void> => {
    const observation = await act({ kind: 'BrowserNavigateAction', url: site + page });
    expect({ page, failed: observation.is_error, text: observation.is_error ? textOf(observation) : '' }).toEqual({
      page,
      failed: false,
      text: '',
    });
  };
  /** A server with this view alone. */
  const serve = async (shown: BrowserView): Promise<Server> => {
    const made = createHttpServer(
      {},
      { browser: shown.channel },
      { token: TOKEN, logger: createLogger('test', 'silent') },
    ).listen(0, '127.0.0.1');
    await once(made, 'listening');
    return made;
  };
  const watch = async (looks = true, at = server): Promise<WatchingUser> => {
    const user = await WatchingUser.open(
      `ws://127.0.0.1:${(at.address() as AddressInfo).port}/live/browser`,
      TOKEN,
      looks,
    );
    people.push(user);
    return user;
  };
  const failure = (work: Promise<unknown>): Promise<{ code: string; detail: string }> =>
    work.then(
      () => ({ code: 'none', detail: '' }),
      (error: { code: string; detail: string }) => error,
    );

  it('says that there is none yet, and shows the first page as soon as the agent opens it, with its address, title and errors', async () => {
    const ann = await watch();
    expect(await ann.state(() => true)).toMatchObject({
      phase: 'closed',
      missing: null,
      holder: null,
      yours: false,
      tabs: [],
    });
    await goTo('/still');
    expect(await ann.state(({ title }) => title === 'Still')).toMatchObject({
      phase: 'open',
      address: `${site}/still`,
      viewport: { width: 1280, height: 800 },
      tabs: [{ title: 'Still', address: `${site}/still`, shown: true }],
    });
    expect(await ann.frame(1)).toMatchObject({ width: 1280, height: 800 });
    await goTo('/broken');
    await until('both errors', () => ann.errors.length === 2);
    expect(ann.errors.map(({ kind, text, page }) => [kind, text, page])).toEqual([
      ['console', 'the first complaint', `${site}/broken`],
      ['exception', 'nobody caught this', `${site}/broken`],
    ]);
  });

  it('gives a newcomer the last picture and all kept errors at once, of a page on which nothing moves', async () => {
    await goTo('/still');
    const ann = await watch();
    await ann.frame(1);
    const bob = await watch();
    expect((await bob.frame(1)).jpeg.length).toBeGreaterThan(1_000);
    expect(bob.errors).toEqual(ann.errors);
  });

  it('sends a slow viewer no more frames than its limit, and the newest when there is room again', async () => {
    await goTo('/moving');
    const [slow, quick] = [await watch(false), await watch()];
    await slow.frame(BROWSER_FRAMES_UNSEEN);
    await quick.frame(quick.frames.length + 20);
    expect(slow.frames.length).toBe(BROWSER_FRAMES_UNSEEN);
    const newest = quick.newest;
    slow.sayWhatItSaw();
    await slow.frame(BROWSER_FRAMES_UNSEEN + 1);
    expect(slow.frames[BROWSER_FRAMES_UNSEEN]?.number).toBeGreaterThanOrEqual(newest);
  });

  it('makes no pictures without viewers', async () => {
    await goTo('/moving');
    const ann = await watch();
    await ann.frame(5);
    ann.close();
    await until('it is known', () => ann.closed);
    const painted = (): Promise<number> => browser.current()?.page.evaluate('painted()') as Promise<number>;
    const before = await painted();
    await until('the page has been painted often', async () => (await painted()) > before + 60);
    const bob = await watch();
    // The last one again, at most what was on its way, and the new ones.
    await bob.frame(2);
    expect(bob.frames[1]?.number).toBeLessThanOrEqual(ann.newest + 15);
  });

  it('ends a burst with the page as it is, though Chromium sends no frame while three are on their way', async () => {
    await goTo('/still');
    const page = browser.current()?.page;
    const ann = await watch();
    await ann.frame(1);
    ann.looks = false;
    for (const colour of ['red', 'lime', 'blue', 'red', 'lime', 'rgb(0,0,255)'])
      await page?.evaluate(
        `new Promise((done) => { document.body.style.background = '${colour}'; requestAnimationFrame(done); })`,
      );
    ann.looks = true;
    ann.sayWhatItSaw();
    await until('the last colour', async () => (await ann.colourIn(page)) === 'blue', 20_000);
  });

  it('ends each of forty bursts with the page as it is, for a user whose acknowledgements come at any moment of one', async () => {
    await goTo('/still');
    const page = browser.current()?.page;
    const ann = await watch();
    await ann.frame(1);
    for (let burst = 0; burst < 40; burst += 1) {
      const last = burst % 2 === 0 ? 'blue' : 'red';
      await page?.evaluate(
        `new Promise((done) => {
          let left = ${3 + (burst % 9)};
          const paint = () => {
            document.body.style.background = left === 0 ? '${last === 'blue' ? 'rgb(0,0,255)' : 'rgb(255,0,0)'}' : left % 2 === 0 ? 'lime' : 'white';
            if (left-- === 0) requestAnimationFrame(done); else requestAnimationFrame(paint);
          };
          paint();
        })`,
      );
      await until(`the last colour of burst ${burst}`, async () => (await ann.colourIn(page)) === last, 20_000);
    }
  });

  it('gives one user control: their mouse, keys, text and wheel reach the page, the others see who has it', async () => {
    await goTo('/form');
    const [ann, bob] = [await watch(), await watch()];
    ann.send({ type: 'pointer', act: 'press', x: 150, y: 125, button: 'left', buttons: 1, clicks: 1, modifiers: 0 });
    await ann.notice('Take the browser first.');
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    expect((await bob.state(({ holder }) => holder !== null)).holder).toMatchObject({ name: 'Ann', away: false });
    bob.takeBrowser('Bob');
    await bob.notice('Ann has the browser.');
    ann.click(150, 125);
    await bob.state(({ title }) => title === 'pressed');
    ann.click(400, 125);
    for (const key of ['h', 'i']) ann.key(key);
    await bob.state(({ title }) => title === 'typed hi');
    ann.send({ type: 'insert', text: ' ünd 你好' });
    await bob.state(({ title }) => title === 'typed hi ünd 你好');
    ann.send({ type: 'wheel', x: 640, y: 600, dx: 0, dy: 400, modifiers: 0 });
    await bob.state(({ title }) => title === 'scrolled');
    for (let x = 0; x < 3_000; x += 1)
      ann.send({
        type: 'pointer',
        act: 'move',
        x: x % 1_000,
        y: 700,
        button: 'none',
        buttons: 0,
        clicks: 0,
        modifiers: 0,
      });
    ann.send({ type: 'pointer', act: 'move', x: 777, y: 555, button: 'none', buttons: 0, clicks: 0, modifiers: 0 });
    await until(
      'the last of many moves',
      async () => String(await browser.current()?.page.evaluate('at')) === '777,555',
    );
    ann.send({ type: 'hand-back' });
    await bob.state(({ holder }) => holder === null);
  });

  it('lets a user go anywhere that the agent may go, back, and to what a press opens, and nowhere else', async () => {
    await goTo('/opener');
    const ann = await watch();
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    ann.send({ type: 'go', address: `${site.replace('http://', '')}/form` });
    await ann.state(({ title }) => title === 'Form');
    ann.send({ type: 'history', step: 'back' });
    await ann.state(({ title }) => title === 'Opener');
    for (const [address, words] of [
      ['javascript:alert(1)', 'javascript:'],
      ['file:///etc/passwd', 'workspace'],
      ['http://', 'no address'],
    ] as const) {
      ann.send({ type: 'go', address });
      await ann.notice(words);
    }
    ann.click(50, 50);
    const opened = await ann.state(({ title, tabs }) => title === 'Still' && tabs.length === 2);
    ann.send({ type: 'tab', id: opened.tabs.find(({ shown }) => !shown)?.id ?? '', act: 'show' });
    await ann.state(({ title }) => title === 'Opener');
    ann.send({ type: 'tab', id: opened.tabs.find(({ shown }) => shown)?.id ?? '', act: 'close' });
    await ann.state(({ tabs }) => tabs.length === 1);
    ann.send({ type: 'hand-back' });
    await ann.state(({ holder }) => holder === null);
    expect(await failure(act({ kind: 'BrowserClickAction', index: 0 }))).toMatchObject({ code: 'browser.taken' });
  });

  it('refuses the agent while a user has control, with a sentence, and shows it the note before it acts again', async () => {
    await goTo('/form');
    const ann = await watch();
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    times.waitMs = 100;
    expect(await failure(act({ kind: 'BrowserGetStateAction' }))).toMatchObject({
      code: 'browser.taken',
      detail: expect.stringContaining('A user has control of the browser: Ann.'),
    });
    ann.send({ type: 'hand-back', note: 'I have signed in.' });
    await ann.state(({ holder }) => holder === null);
    const clicked = await failure(act({ kind: 'BrowserClickAction', index: 1 }));
    expect(clicked).toMatchObject({ code: 'browser.taken', detail: expect.stringContaining('I have signed in.') });
    expect(clicked.detail).toContain('This was not done');
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    ann.send({ type: 'hand-back', note: 'Once more.' });
    await ann.state(({ holder }) => holder === null);
    const looked = await act({ kind: 'BrowserGetStateAction' });
    expect(textOf(looked)).toContain('Ann had the browser and has handed it back, with this note:\nOnce more.');
    expect(textOf(await act({ kind: 'BrowserGetStateAction' }))).not.toContain('Once more.');
  });

  it('lets the agent go on as soon as it is handed back', async () => {
    await goTo('/form');
    const ann = await watch();
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    const waiting = act({ kind: 'BrowserGetStateAction' });
    ann.send({ type: 'hand-back' });
    expect(textOf(await waiting)).toContain('Ann had the browser and has handed it back.');
  });

  it('aborts the action of the agent when a user takes control', async () => {
    await goTo('/form');
    const ann = await watch();
    const going = failure(act({ kind: 'BrowserNavigateAction', url: `${site}/never` }));
    await ann.state(({ loading }) => loading);
    ann.takeBrowser('Ann');
    expect(await going).toMatchObject({
      code: 'browser.taken',
      detail: expect.stringContaining('Ann took control of the browser meanwhile'),
    });
    await ann.state(({ yours }) => yours);
    ann.send({ type: 'hand-back' });
    await ann.state(({ holder }) => holder === null);
  });

  it('keeps it for who was cut off, lets go of what they held down, and gives it back to the agent when they stay away', async () => {
    await goTo('/form');
    const [ann, bob] = [await watch(), await watch()];
    ann.takeBrowser('Ann');
    await ann.state(({ yours }) => yours);
    ann.send({ type: 'key', act: 'press', key: 'Shift', code: 'ShiftLeft', keyCode: 16, location: 1, modifiers: 8 });
    await bob.state(({ title }) => title === 'down Shift');
    ann.close();
    expect((await bob.state(({ holder }) => holder?.away === true)).holder?.name).toBe('Ann');
    await bob.state(({ title }) => title === 'up Shift');
    bob.takeBrowser('Bob');
    await bob.notice('Ann has the browser, and is away for the moment.');
    const again = await watch();
    again.hold = ann.hold;
    again.takeBrowser('Ann');
    await again.state(({ yours }) => yours);
    times.awayMs = 50;
    again.close();
    await bob.state(({ holder }) => holder === null);
    bob.takeBrowser('Bob');
    await bob.state(({ yours }) => yours);
    bob.send({ type: 'hand-back' });
    await bob.state(({ holder }) => holder === null);
  });

  it('says so where the image has no browser', async () => {
    const bare = new BrowserView(
      new Browser({ ...browser.options, environment: new ShellEnvironment({ PATH: '/nowhere', HOME: '/nowhere' }) }),
    );
    const bareServer = await serve(bare);
    try {
      const ann = await watch(true, bareServer);
      expect(await ann.state(() => true)).toMatchObject({
        phase: 'lacking',
        missing: expect.stringContaining('There is no browser in this sandbox'),
      });
    } finally {
      bare.close();
      bareServer.closeAllConnections();
      bareServer.close();
    }
  });

  it('disconnects a client whose messages no user could send', async () => {
    for (const message of [
      { type: 'pointer', act: 'press', x: 'here' },
      { type: 'evaluate', script: '1' },
      { type: 'insert', text: 'x'.repeat(100_001) },
      7,
    ]) {
      const mallory = await watch();
      mallory.send(message as never);
      await until('it is sent away', () => mallory.closed);
      expect(mallory.closed).toEqual({ code: 1008, reason: 'this channel takes no such message' });
    }
  });
});
