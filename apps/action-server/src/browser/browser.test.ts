import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAX_IMAGES_LENGTH, MAX_OBSERVATION_LENGTH } from '@slipway/contracts/actions';
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
import { safeName } from './downloads.js';

const FORM = `<title>Form</title><h1>Sign up</h1>
<form action="/done"><label>Name <input name="name"></label><input type="password" aria-label="Password"><input type="date" aria-label="Day">
<label>Kind <select name="kind"><option value="s">Small</option><option value="l">Large</option></select></label>
<textarea aria-label="About"></textarea><input type="file" aria-label="Picture" style="display:none" onchange="document.title=this.files[0].name">
<label><input type="checkbox" name="ok"> I agree</label><button>Send</button></form>
<button disabled>Never</button><div style="cursor:pointer" onclick="this.textContent='clicked'">A box</div>
<script>document.forms[0].addEventListener('submit', (event) => { event.preventDefault(); document.title = JSON.stringify([...new FormData(document.forms[0])].map(([k, v]) => typeof v === 'string' ? v : v.name)); });</script>`;

describeUnless(noChromium)('the browser', () => {
  let site: TestSite;
  let here: TestBrowser;
  const none = (text: string) => `<title>${text}</title><p>${text}</p>`;
  beforeAll(async () => {
    site = await startTestSite((url) => ({
      '/form': FORM,
      '/done': none('Done'),
      '/a': '<title>A</title><h1>First</h1><a href="/b">to b</a> <a href="/pop" target="_blank">popup</a><ul><li>one<li>two</ul><pre>x = 1\ny</pre>',
      '/b': none('B'),
      '/pop': none('Popup'),
      '/frames': `<title>Frames</title><iframe src="/inner"></iframe><iframe src="${url.replace('127.0.0.1', 'localhost')}/inner"></iframe>`,
      '/inner': `<button onclick="this.textContent='pressed in '+location.hostname">in a frame</button>`,
      '/changing': `<title>Changing</title><button onclick="document.querySelector('a').remove()">remove</button><a href="/b">going</a>`,
      '/covered': `<title>Covered</title><button onclick="document.title='got it'">below</button><div style="position:fixed;inset:0;background:#fff9"></div>`,
      '/ask': `<title>Ask</title><button onclick="document.title=[alert('Hi'), confirm('Sure?'), prompt('Name?', 'Ada')].join()">ask</button>`,
      '/long': `<title>Long</title>${Array.from({ length: 400 }, (_, at) => `<p>Paragraph ${at} ${'word '.repeat(20)}</p>`).join('')}`,
      '/errors': `<title>Errors</title><script>for (let n = 0; n < 50; n += 1) console.error('failure ' + n + 'x'.repeat(1000)); throw new Error('the last one');</script>`,
      '/files': '<title>Files</title><a href="/report">report</a>',
      '/report': (_request, response) =>
        void response
          .writeHead(200, {
            'content-disposition': 'attachment; filename="../../.bashrc;x.txt"',
            'content-type': 'text/plain',
          })
          .end('of the report'),
    }));
    here = await testBrowser();
  });
  afterAll(async () => {
    await here.close();
    site.close();
  });
  const open = (page: string) => here.act({ kind: 'BrowserNavigateAction', url: `${site.url}${page}` });
  const state = () => here.act({ kind: 'BrowserGetStateAction' });
  const click = (index: number) => here.act({ kind: 'BrowserClickAction', index });
  const type = (index: number, text: string) => here.act({ kind: 'BrowserTypeAction', index, text });

  it('fills a form by the numbers of its state: fields, a password, a date, a list, a checkbox and a file', async () => {
    await writeFile(path.join(here.workspace, 'face.png'), 'no picture');
    expect((await open('/form')).page).toMatchObject({ url: `${site.url}/form`, title: 'Form' });
    const seen = await state();
    expect(seen.text).toContain('combobox "Kind Small Large" (options: *Small | Large)');
    expect(seen.text).toMatch(/button "Never" \(disabled\)/);
    await type(numberOf(seen, 'Name'), 'Ada Lovelace');
    expect((await type(numberOf(seen, 'Password'), 'hunter2')).text).not.toContain('hunter2');
    await type(numberOf(seen, 'Day'), '2030-12-31');
    await type(numberOf(seen, 'combobox'), 'Large');
    await type(numberOf(seen, 'About'), 'two\nlines');
    await click(numberOf(seen, 'I agree'));
    expect((await type(numberOf(seen, 'Picture'), 'face.png')).page?.title).toBe('face.png');
    const filled = await state();
    expect(filled.text).toContain('password, filled in');
    expect(filled.text).not.toContain('hunter2');
    expect(filled.text).toContain('value: "2030-12-31"');
    expect((await click(numberOf(filled, 'Send'))).page?.title).toBe('["Ada Lovelace","l","on"]');
    expect((await type(numberOf(filled, 'Picture'), '/etc/passwd')).error_code).toBe('file.outside-workspace');
    expect((await type(numberOf(filled, 'combobox'), 'Huge')).text).toContain('It has: "Small", "Large"');
    expect((await click(numberOf(filled, 'Never'))).text).toContain('is disabled');
    await click(numberOf(filled, 'A box'));
    expect((await state()).text).toContain('"clicked"');
  });

  it('presses Enter for a line feed at the end, and clears a field for an empty text', async () => {
    await open('/form');
    const name = numberOf(await state(), 'Name');
    await type(name, 'thrown away');
    await type(name, '');
    expect((await type(name, 'Grace\n')).page?.title).toBe('["Grace","s"]');
  });

  it('reaches into frames, also of another site', async () => {
    await open('/frames');
    const seen = await state();
    const numbers = seen.text
      .split('\n')
      .flatMap((line) => (line.includes('"in a frame"') ? [Number(/\d+/.exec(line)?.[0])] : []));
    expect(numbers).toHaveLength(2);
    for (const number of numbers) await click(number);
    const after = await state();
    expect(after.text).toContain('"pressed in 127.0.0.1"');
    expect(after.text).toContain('"pressed in localhost"');
  });

  it('says that a number is of an element that has gone, and does nothing else in its place', async () => {
    await open('/changing');
    const seen = await state();
    await click(numberOf(seen, 'remove'));
    const gone = await click(numberOf(seen, 'going'));
    expect([gone.is_error, gone.error_code]).toEqual([true, 'browser.element-gone']);
    expect(gone.text).toContain('browser_get_state');
    await open('/b');
    expect((await click(numberOf(seen, 'remove'))).error_code).toBe('browser.element-gone');
    expect((await click(99_999)).error_code).toBe('browser.element-gone');
  });

  it('presses what lies below something else, and says so', async () => {
    await open('/covered');
    const clicked = await click(numberOf(await state(), 'below'));
    expect(clicked.text).toContain('a <div> lies above it');
    expect(clicked.page?.title).toBe('got it');
  });

  it('brings a popup to the front as a tab; tabs are listed, switched and closed, and a wrong one is reported', async () => {
    await open('/a');
    const first = here.browser.current()?.id ?? '';
    expect(first).toMatch(/^[a-z0-9]{4}$/);
    const popped = await click(numberOf(await state(), 'popup'));
    expect(popped.page?.title).toBe('Popup');
    expect(popped.text).toContain('which is in front now');
    const second = popped.page?.tab_id ?? '';
    const listed = await here.act({ kind: 'BrowserListTabsAction' });
    expect(listed.text).toMatch(new RegExp(`${first}: http.*/a "A"`));
    expect(listed.text).toMatch(new RegExp(`${second}: http.*/pop "Popup" \\(in front\\)`));
    expect((await here.act({ kind: 'BrowserSwitchTabAction', tab_id: first })).page?.title).toBe('A');
    expect((await here.act({ kind: 'BrowserCloseTabAction', tab_id: second })).page?.title).toBe('A');
    const wrong = await here.act({ kind: 'BrowserCloseTabAction', tab_id: second });
    expect([wrong.error_code, wrong.text]).toEqual([
      'browser.element-gone',
      expect.stringContaining(`The tabs are: ${first}`),
    ]);
    const link = numberOf(await state(), 'to b');
    const inTab = await here.act({ kind: 'BrowserClickAction', index: link, new_tab: true });
    expect(inTab.page?.title).toBe('B');
    await here.act({ kind: 'BrowserCloseTabAction', tab_id: inTab.page?.tab_id ?? '' });
  });

  it('goes back, and says when there is nothing before', async () => {
    const { page } = await here.act({ kind: 'BrowserNavigateAction', url: `${site.url}/a`, new_tab: true });
    await click(numberOf(await state(), 'to b'));
    expect((await here.act({ kind: 'BrowserGoBackAction' })).page?.title).toBe('A');
    await here.act({ kind: 'BrowserGoBackAction' });
    expect((await here.act({ kind: 'BrowserGoBackAction' })).text).toContain('There is no earlier page');
    await here.act({ kind: 'BrowserCloseTabAction', tab_id: page?.tab_id ?? '' });
  });

  it('reads a page as Markdown in parts that join to the whole', async () => {
    await open('/a');
    const read = await here.act({ kind: 'BrowserGetContentAction', extract_links: true });
    for (const part of ['# First', `[to b](${site.url}/b)`, '- one', '```\nx = 1\ny\n```'])
      expect(read.text).toContain(part);
    await open('/long');
    const parts: string[] = [];
    for (let start = 0; parts.length < 10; ) {
      const { text } = await here.act({ kind: 'BrowserGetContentAction', start_from_char: start });
      expect(text.length).toBeLessThan(MAX_OBSERVATION_LENGTH);
      parts.push(/<page-content[^\n]*\n([\s\S]*)\n<\/page-content/.exec(text)?.[1] ?? '');
      const next = /start_from_char=(\d+)/.exec(text)?.[1];
      if (next === undefined) break;
      start = Number(next);
    }
    expect(parts.length).toBeGreaterThan(1);
    expect([...parts.join('').matchAll(/Paragraph (\d+) /g)].map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 400 }, (_, at) => at),
    );
  });

  it('scrolls, and shows a picture of what is in view that fits into an answer', async () => {
    await open('/long');
    await here.act({ kind: 'BrowserScrollAction', direction: 'down' });
    const seen = await here.act({ kind: 'BrowserGetStateAction', include_screenshot: true });
    expect(Number(/(\d+) pixels above/.exec(seen.text)?.[1])).toBeGreaterThan(100);
    const [, picture] = seen.content;
    const url = picture?.type === 'image' ? (picture.image_urls[0] ?? '') : '';
    expect(Buffer.from(url.replace('data:image/jpeg;base64,', ''), 'base64').subarray(0, 3).toString('hex')).toBe(
      'ffd8ff',
    );
    expect(url.length).toBeLessThanOrEqual(MAX_IMAGES_LENGTH);
    await here.act({ kind: 'BrowserScrollAction', direction: 'up' });
    expect((await state()).text).toContain('0 pixels above');
  });

  it('answers dialogs with OK, and reports each', async () => {
    await open('/ask');
    const asked = await click(numberOf(await state(), 'ask'));
    for (const said of ['"Hi"', '"Sure?"', '"Name?"']) expect(asked.text).toContain(said);
    expect((await state()).page?.title).toBe(',true,Ada');
  });

  it('reports the errors of scripts, the last ones, each cut', async () => {
    await open('/errors');
    const { text } = await state();
    expect(text).toContain('the last one');
    expect(text).toContain('(41 earlier ones)');
    expect(text.length).toBeLessThan(6_000);
  });

  it('keeps a download in the workspace under a name that is only a name, never through a link or over a file', async () => {
    await mkdir(path.join(here.workspace, 'downloads'));
    await writeFile(path.join(here.workspace, 'outside'), 'mine');
    await symlink('../outside', path.join(here.workspace, 'downloads/_.._.bashrc_x.txt'));
    await open('/files');
    const clicked = await click(numberOf(await state(), 'report'));
    const file = path.join(here.workspace, 'downloads/_.._.bashrc_x-2.txt');
    await until('the file is there', async () => (await readFile(file, 'utf8')) === 'of the report');
    // Reported with the answer to the click, or with the next one when it took longer.
    expect(
      clicked.text +
        (await until(
          'the download is reported',
          async () => here.browser.running?.downloads.areUnderWay === false && (await state()).text,
        )),
    ).toContain(`Downloaded ${file} (13 bytes)`);
    expect(await readFile(path.join(here.workspace, 'outside'), 'utf8')).toBe('mine');
    expect((await open('/report')).text).toContain('It is a file, which is downloaded');
    expect(await readdir(path.join(here.workspace, 'downloads'))).toHaveLength(3);
    expect(['..', '.ssh', 'a/b\\c.txt', 'x\u202e;$(y).sh', '', `${'n'.repeat(300)}.tar.gz`].map(safeName)).toEqual([
      'download',
      'ssh',
      'c.txt',
      'x___(y).sh',
      'download',
      `${'n'.repeat(80)}.gz`,
    ]);
  });

  it('sets cookies and stored data, and reads them back', async () => {
    const origin = site.url;
    const cookie = { name: 'sid', value: 'of-ada', domain: '127.0.0.1' };
    await here.act({
      kind: 'BrowserSetStorageAction',
      storage_state: { cookies: [cookie], origins: [{ origin, localStorage: [{ name: 'theme', value: 'dark' }] }] },
    });
    const read = await here.act({ kind: 'BrowserGetStorageAction' });
    const kept = JSON.parse(/<page-content[^\n]*\n([\s\S]*)\n<\/page-content/.exec(read.text)?.[1] ?? '{}');
    expect(kept).toMatchObject({
      cookies: [cookie],
      origins: [{ origin, localStorage: [{ name: 'theme', value: 'dark' }] }],
    });
    const wrong = await here.act({
      kind: 'BrowserSetStorageAction',
      storage_state: { origins: [{ origin: 'file:///etc', localStorage: [] }] },
    });
    expect(wrong.error_code).toBe('request.invalid');
  });

  it('says why an address is not opened', async () => {
    const why = async (url: string) => (await here.act({ kind: 'BrowserNavigateAction', url })).error_code;
    for (const url of [
      'chrome://version',
      'javascript:alert(1)',
      'view-source:http://x',
      'data:text/html,hi',
      'file://other.test/x',
      'http://',
      'devtools://x',
    ])
      expect([url, await why(url)]).toEqual([url, 'browser.refused']);
    expect(await why('file:///etc/passwd')).toBe('file.outside-workspace');
    expect((await open('/nothing')).text).toContain('The server answered 404');
  });

  it('stops at once on request, and goes on with the next action', async () => {
    const stop = new AbortController();
    const waiting = here.act({ kind: 'BrowserNavigateAction', url: `${site.url}/a` }, stop.signal);
    stop.abort(new Error('stopped by a person'));
    await expect(waiting).rejects.toThrow('stopped by a person');
    expect((await open('/b')).page?.title).toBe('B');
  });
});
