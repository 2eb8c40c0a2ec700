import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
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

const SECRET = 'a "secret" of the task';
const own = {
  ...process.env,
  HTTP_PROXY: undefined,
  HTTPS_PROXY: undefined,
  http_proxy: undefined,
  https_proxy: undefined,
};

/** Of rrweb's events: what they are, and all of them as text. */
interface RecordedEvent {
  readonly type: number;
  readonly timestamp: number;
  readonly data: { readonly href?: string; readonly source?: number };
}
const FULL_SNAPSHOT = 2;
const META = 4;

describeUnless(noChromium)('a recording of the browser', () => {
  let site: TestSite;
  let here: TestBrowser;
  beforeAll(async () => {
    const environment = new ShellEnvironment(own);
    environment.configure({ SECRET }, { SECRET: null });
    site = await startTestSite((url) => ({
      '/form': `<title>Form</title><h1>The form</h1><label>Name <input id="name"></label><label>Key <input type="password" id="key"></label><div contenteditable="true" aria-label="Rich"></div><a href="${url}/next">next</a><a href="${url}/other" target="_blank">other</a>`,
      '/next': `<title>Next</title><p id="p">before</p><script>document.title = String(typeof slipwayRecorded) + typeof slipwayRecording; p.textContent = ${JSON.stringify(`It is ${SECRET}.`)};</script>`,
      '/other': '<title>Other</title><h2>In another tab</h2>',
      '/flood': `<title>Flood</title><script>let rounds = 0; const flood = setInterval(() => { rounds += 1; if (rounds === 20) clearInterval(flood); for (let n = 0; n < 20; n += 1) { const one = document.createElement('p'); one.textContent = 'x'.repeat(2000) + Math.random(); document.body.append(one); } }, 10)</script>`,
    }));
    here = await testBrowser({ environment, maxRecordingBytes: 300_000 });
  });
  afterAll(async () => {
    await here.close();
    site.close();
  });
  const open = (page: string) => here.act({ kind: 'BrowserNavigateAction', url: `${site.url}${page}` });
  const numberIn = async (words: string) => numberOf(await here.act({ kind: 'BrowserGetStateAction' }), words);
  const type = async (words: string, text: string) =>
    here.act({ kind: 'BrowserTypeAction', index: await numberIn(words), text });
  const folderIn = (text: string) => /(\/\S*\/downloads\/recording-[\w-]+)/.exec(text)?.[1] ?? '';
  const kept = async (folder: string) => {
    const files: Record<string, { events: RecordedEvent[]; text: string }> = {};
    for (const name of (await readdir(folder)).sort()) {
      const text = await readFile(path.join(folder, name), 'utf8');
      files[name] = { events: JSON.parse(text) as RecordedEvent[], text };
    }
    return files;
  };

  it('has each page of each tab, what happens on it, and nothing that was written into it; secrets that a page shows are masked', async () => {
    await open('/form');
    const begun = await here.act({ kind: 'BrowserStartRecordingAction' });
    expect([begun.is_error, begun.kind]).toEqual([false, 'BrowserObservation']);
    expect((await here.act({ kind: 'BrowserStartRecordingAction' })).text).toContain('recorded already');
    await type('"Name"', 'written by the agent');
    await type('"Key"', '<secret>SECRET</secret>');
    await type('"Rich"', 'rich words');
    await here.act({ kind: 'BrowserClickAction', index: await numberIn('"other"'), new_tab: false });
    await here.act({ kind: 'BrowserSwitchTabAction', tab_id: here.browser.running?.tabs.list()[0]?.id ?? '' });
    const next = await here.act({ kind: 'BrowserClickAction', index: await numberIn('"next"') });
    // The recorder is not of the page's world.
    expect(next.page?.title).toBe('undefinedundefined');
    const ended = await here.act({ kind: 'BrowserStopRecordingAction' });
    const folder = folderIn(ended.text);
    expect(folder).toBe(folderIn(begun.text));
    const files = await kept(folder);
    const [first, second] = Object.values(files);
    expect(Object.keys(files)).toHaveLength(2);
    const all = Object.values(files).flatMap(({ events }) => events);
    expect(ended.text).toContain(`Recorded ${all.length} events in 2 files`);
    const pages = [first, second].map((one) =>
      one?.events.filter(({ type }) => type === META).map(({ data }) => data.href?.replace(site.url, '')),
    );
    expect(pages.sort((a, b) => (b?.length ?? 0) - (a?.length ?? 0))).toEqual([['/form', '/next'], ['/other']]);
    expect(all.filter((event) => event.type === FULL_SNAPSHOT)).toHaveLength(3);
    const text = [first?.text, second?.text].join('');
    expect(text).toContain('The form');
    expect(text).toContain('In another tab');
    expect(text).toContain('"***"');
    expect(text).toContain('It is <secret:SECRET>.');
    for (const hidden of ['written by', 'rich words', 'a \\"secret', SECRET])
      expect([hidden, text.includes(hidden)]).toEqual([hidden, false]);
  });

  it('takes no more once it has ended, and says when there is none', async () => {
    const none = await here.act({ kind: 'BrowserStopRecordingAction' });
    expect([none.error_code, none.text]).toEqual([
      'browser.refused',
      expect.stringContaining('Nothing is being recorded'),
    ]);
    const folders = await readdir(path.join(here.workspace, 'downloads'));
    await open('/form');
    await type('"Name"', 'afterwards');
    expect(await readdir(path.join(here.workspace, 'downloads'))).toEqual(folders);
  });

  it('of a page that never becomes idle ends by itself within its bound, and keeps what it has', async () => {
    await open('/form');
    await here.act({ kind: 'BrowserStartRecordingAction' });
    // Reported with whichever answer comes next, the first of all perhaps.
    let { text } = await open('/flood');
    const answer = await until('the recording is reported', async () => {
      if (!text.includes('ended by itself')) ({ text } = await here.act({ kind: 'BrowserListTabsAction' }));
      return text.includes('The recording has ended by itself') ? text : null;
    });
    await open('/form');
    const files = await until('all is written', () => kept(folderIn(answer)).catch(() => null));
    const sizes = Object.values(files).map(({ text }) => text.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(320_000);
    expect((await here.act({ kind: 'BrowserStopRecordingAction' })).text).toContain('Recorded');
  });

  it('leads nowhere outside of the workspace', async () => {
    const away = await testBrowser();
    await writeFile(path.join(away.workspace, 'file'), '');
    await symlink('/tmp', path.join(away.workspace, 'downloads'));
    const refused = await away.act({ kind: 'BrowserStartRecordingAction' });
    expect([refused.is_error, refused.error_code]).toEqual([true, 'file.outside-workspace']);
    await away.close();
  });
});
