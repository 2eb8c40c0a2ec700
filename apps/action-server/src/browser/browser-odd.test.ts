import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import {
  noChromium,
  numberOf,
  startTestSite,
  type TestBrowser,
  type TestSite,
  testBrowser,
} from '../testing/test-browser.js';

/** A page of a busy machine answers within it. Milliseconds. */
const PATIENCE_MS = 3_000;

/** A whole PDF of one page that says so. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 38>>stream
BT /F1 24 Tf 10 100 Td (Paper) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>`;

describeUnless(noChromium)('what is no usual page', () => {
  let site: TestSite;
  let other: TestSite;
  let here: TestBrowser;
  beforeAll(async () => {
    other = await startTestSite(() => ({ '/frame': '<button>in a frame</button>' }));
    site = await startTestSite(() => ({
      '/fine': '<title>Fine</title><button>ok</button>',
      '/private': ({ headers }, response) =>
        headers.authorization === undefined
          ? void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
          : void response
              .writeHead(200, { 'content-type': 'text/html' })
              .end(`<title>In as ${headers.authorization}</title>`),
      '/asks':
        '<title>Asks</title><img src="/private"><iframe src="/private"></iframe><script>fetch("/private").then(({ status }) => { document.title = "answered " + status; })</script>',
      '/paper': (_request, response) => void response.writeHead(200, { 'content-type': 'application/pdf' }).end(PDF),
      '/endless': (_request, response) => {
        response.writeHead(200, {
          'content-disposition': 'attachment; filename=endless.bin',
          'content-type': 'application/octet-stream',
        });
        response.write('x'.repeat(5_000));
        const timer = setInterval(() => response.write('x'), 50);
        response.once('close', () => clearInterval(timer));
      },
      '/late': (_request, response) =>
        void setTimeout(
          () => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Late</title>'),
          PATIENCE_MS + 1_500,
        ),
      '/leads': '<title>Leads</title><a href="/never">never</a>',
      '/never': () => {},
      '/frames': `<title>Frames</title><iframe src="http://localhost:${other.port}/frame"></iframe>`,
      '/prints':
        '<title>Prints</title><script>print(); navigator.geolocation.getCurrentPosition(() => {}, () => { document.title = "refused"; });</script>',
    }));
    here = await testBrowser({ patienceMs: PATIENCE_MS });
  });
  afterAll(async () => {
    await here.close();
    site.close();
    other.close();
  });
  const open = (page: string, more = {}) =>
    here.act({ kind: 'BrowserNavigateAction', url: `${site.url}${page}`, ...more });

  it('a page whose parts ask for a password has them refused, and comes; one that asks itself is reported, and the next one loads', async () => {
    const asks = await open('/asks');
    expect([asks.text, asks.page?.title]).toEqual([expect.stringContaining('The page is there.'), 'answered 401']);
    const itself = await open('/private');
    expect([itself.error_code, itself.text]).toEqual([
      'browser.page-failed',
      expect.stringContaining('asks for a name and a password'),
    ]);
    expect((await open('/fine')).page?.title).toBe('Fine');
  });

  it('a name and a password in an address are used, and in no answer', async () => {
    const within = await here.act({
      kind: 'BrowserNavigateAction',
      url: `${site.url.replace('//', '//ann:hunter-2@')}/private`,
    });
    expect(within.page).toMatchObject({
      url: `${site.url}/private`,
      title: `In as Basic ${Buffer.from('ann:hunter-2').toString('base64')}`,
    });
    expect(JSON.stringify([within.text, (await here.act({ kind: 'BrowserListTabsAction' })).text])).not.toContain(
      'hunter-2',
    );
  });

  it('reports a PDF as one, with what reads it, and shows it', async () => {
    expect((await open('/paper')).is_error).toBe(false);
    const state = await here.act({ kind: 'BrowserGetStateAction', include_screenshot: true });
    expect([state.is_error, state.text, state.content.length]).toEqual([
      false,
      expect.stringContaining('This is a PDF.'),
      2,
    ]);
    expect((await here.act({ kind: 'BrowserGetContentAction' })).text).toContain('pdftotext');
  });

  it('never waits for a user to print or to permit', async () => {
    await open('/prints');
    expect((await here.act({ kind: 'BrowserGetStateAction' })).page?.title).toBe('refused');
  });

  it('what a page opens while the agent opens a tab is a tab too, and none stays hidden', async () => {
    await open('/fine');
    const page = here.browser.current()?.page;
    await Promise.all([
      page?.evaluate('for (let n = 0; n < 4; n += 1) window.open("/fine?" + n)'),
      open('/fine', { new_tab: true }),
    ]);
    const { tabs, chromium } = here.browser.running ?? {};
    // One window a gesture is what Chromium allows; the page's script goes on before we hear of it.
    await until('the window is a tab', () => tabs?.list().length === 3);
    expect(tabs?.list().map(({ page: one }) => one)).toEqual(
      expect.arrayContaining(chromium?.contexts.sites.pages() ?? []),
    );
    for (const tab of tabs?.list().slice(1) ?? []) await tabs?.close(tab);
  });

  it('a frame of another site is attached to once, however often the page is read', async () => {
    await open('/frames');
    const context = here.browser.running?.chromium.contexts.sites;
    if (context === undefined) throw new Error('no browser');
    const attach = context.newCDPSession.bind(context);
    let attached = 0;
    context.newCDPSession = (target) => {
      attached += 1;
      return attach(target);
    };
    for (let time = 0; time < 5; time += 1) numberOf(await here.act({ kind: 'BrowserGetStateAction' }), 'in a frame');
    expect(attached).toBe(1);
  });

  it('a server that takes its time is waited for, longer than a page that does not answer', async () => {
    const late = await open('/late');
    expect([late.text, late.page?.title]).toEqual([expect.stringContaining('The page is there.'), 'Late']);
  });

  it('a page that has begun to leave for a server that never answers keeps its tab, says so, and the next one opens', async () => {
    const leads = await open('/leads');
    const clicked = await here.act({
      kind: 'BrowserClickAction',
      index: numberOf(await here.act({ kind: 'BrowserGetStateAction' }), 'never'),
    });
    expect(clicked.is_error).toBe(false);
    const state = await here.act({ kind: 'BrowserGetStateAction' });
    expect([state.error_code, state.text]).toEqual([
      'browser.page-failed',
      expect.stringContaining('whose server has not answered yet'),
    ]);
    const fine = await open('/fine');
    expect([fine.page?.title, fine.page?.tab_id]).toEqual(['Fine', leads.page?.tab_id]);
  });

  it('a download that never ends is waited for once, and keeps no later action waiting', async () => {
    const first = await open('/endless');
    expect(first.text).toContain('It is a file, which is downloaded.');
    const began = performance.now();
    for (let time = 0; time < 3; time += 1) expect((await open('/fine')).page?.title).toBe('Fine');
    // Each would wait for two and a half times as long.
    expect(performance.now() - began).toBeLessThan(3 * 2.5 * PATIENCE_MS);
  });
});
