import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
import { namesSecret, withSecrets } from './typed-secrets.js';

const SECRET = `s3cret-${'x'.repeat(150)}-end`;
const own = {
  ...process.env,
  HTTP_PROXY: undefined,
  HTTPS_PROXY: undefined,
  http_proxy: undefined,
  https_proxy: undefined,
};

describeUnless(noChromium)('a secret that the agent types by name', () => {
  let site: TestSite;
  let here: TestBrowser;
  const sent: string[] = [];
  const environment = new ShellEnvironment(own);
  beforeAll(async () => {
    environment.configure(
      { PASSWORD: SECRET, ELSEWHERE: 'of another site', PLAIN: 'no secret' },
      { PASSWORD: null, ELSEWHERE: 'login.example' },
    );
    site = await startTestSite(() => ({
      '/form': `<title>Sign in</title><form method="post" action="/sent"><label>User <input name="u"></label><label>Key <input name="k" id="k"></label><label>Note <textarea name="n"></textarea></label><p contenteditable="true" aria-label="Rich"></p><select aria-label="List"><option>${'PASSWORD'}</option></select><button>Send</button></form><script>for (const one of document.querySelectorAll('input,textarea')) one.addEventListener('input', () => { document.title = 'heard ' + one.name; });</script>`,
      '/sent': (request, response) => {
        request.setEncoding('utf8');
        request.on('data', (part: string) => sent.push(part));
        request.on('end', () =>
          response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Signed in</title>'),
        );
      },
      '/thief':
        '<title>Thief</title><label>Key <input id="k"></label><input id="other"><script>globalThis.got = ""; k.addEventListener("focus", () => other.focus()); other.addEventListener("input", () => { got += other.value; });</script>',
    }));
    here = await testBrowser({ environment });
  });
  afterAll(async () => {
    await here.close();
    site.close();
  });
  const state = () => here.act({ kind: 'BrowserGetStateAction' });
  const type = async (words: string, text: string) =>
    here.act({ kind: 'BrowserTypeAction', index: numberOf(await state(), words), text });
  const open = (url: string) => here.act({ kind: 'BrowserNavigateAction', url });

  it('reaches the page with its events, is in no answer and no state, not even a part of it, and is covered in pictures', async () => {
    await open(`${site.url}/form`);
    const typed = await type('"Key"', '<secret>PASSWORD</secret>');
    expect([typed.is_error, typed.page?.title, typed.text]).toEqual([
      false,
      'heard k',
      expect.stringContaining('Typed the secret PASSWORD into'),
    ]);
    const note = await type('"Note"', 'user:<secret:PASSWORD>');
    expect(note.is_error).toBe(false);
    const page = here.browser.current()?.page;
    expect(await page?.evaluate('[k.value, document.querySelector("textarea").value]')).toEqual([
      SECRET,
      `user:${SECRET}`,
    ]);
    expect(await page?.evaluate('getComputedStyle(k).webkitTextSecurity')).toBe('disc');
    const after = await state();
    expect(after.text.match(/filled in with a secret/g)).toHaveLength(2);
    const said = [typed, note, after, await here.act({ kind: 'BrowserGetContentAction' })]
      .map(({ text }) => text)
      .join('\n');
    expect(said).not.toMatch(/s3cret|xxxx/);
    expect((await type('"User"', 'ann\n')).page?.title).toBe('Signed in');
    expect(new URLSearchParams(sent.join('')).get('k')).toBe(SECRET);
  });

  it('goes into no other field, when the page turns the focus away, and into none that is not for text', async () => {
    await open(`${site.url}/thief`);
    expect(await type('"Key"', '<secret>PASSWORD</secret>')).toMatchObject({
      error_code: 'browser.refused',
      text: expect.stringContaining('does not take it'),
    });
    expect(await here.browser.current()?.page.evaluate('got')).toBe('');
    await open(`${site.url}/form`);
    for (const field of ['"Rich"', '"List"'])
      expect(await type(field, '<secret>PASSWORD</secret>')).toMatchObject({
        error_code: 'browser.refused',
        text: expect.stringContaining('no field for text'),
      });
  });

  it('is refused where its site is another, where there is none such, and in a page of the workspace, without a value in the answer', async () => {
    await open(`${site.url}/form`);
    const elsewhere = await type('"Key"', '<secret>ELSEWHERE</secret>');
    expect([elsewhere.error_code, elsewhere.text]).toEqual([
      'browser.refused',
      expect.stringContaining('pages of https://login.example alone'),
    ]);
    for (const name of ['NONE', 'PLAIN', 'PATH'])
      expect((await type('"Key"', `<secret>${name}</secret>`)).text).toContain(
        `there is no secret ${name}. There are: PASSWORD, ELSEWHERE.`,
      );
    expect(await here.browser.current()?.page.evaluate('k.value')).toBe('');
  });
});

describe('the site of a typed secret', () => {
  const environment = new ShellEnvironment({});
  environment.configure(
    { LOCAL: 'value-1', SITE: 'value-2', PORT: 'value-3' },
    { LOCAL: null, SITE: 'login.example', PORT: 'git.example:8443', GONE: null },
  );
  const takes = (name: string, origin: string): boolean => {
    try {
      withSecrets(`<secret>${name}</secret>`, origin, environment);
      return true;
    } catch {
      return false;
    }
  };

  it('is the one that was named, over TLS and with its port, and this machine for one without', () => {
    const origins = [
      'https://login.example',
      'http://login.example',
      'https://login.example:444',
      'https://a.login.example',
      'https://login.example.evil.test',
      'https://git.example:8443',
      'https://git.example',
      'http://localhost:3000',
      'http://127.0.0.1:1',
      'http://workspace.localhost',
      'null',
      'https://evil.test',
    ];
    expect(
      Object.fromEntries(
        ['LOCAL', 'SITE', 'PORT'].map((name) => [name, origins.filter((origin) => takes(name, origin))]),
      ),
    ).toEqual({
      LOCAL: ['http://localhost:3000', 'http://127.0.0.1:1'],
      SITE: ['https://login.example'],
      PORT: ['https://git.example:8443'],
    });
    expect(takes('GONE', 'http://localhost')).toBe(false);
  });

  it('is asked for by either way of writing a name, and by nothing else', () => {
    expect(['<secret>A_1</secret>', 'x<secret:A>y', '<secret> A </secret>'].map(namesSecret)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      ['secret', '<secret-hidden>', '<secret>1</secret>', '<secret>A B</secret>', '<secret>A'].map(namesSecret),
    ).toEqual([false, false, false, false, false]);
    expect(withSecrets('u:<secret>LOCAL</secret> <secret:LOCAL>', 'http://localhost', environment)).toEqual({
      text: 'u:value-1 value-1',
      names: ['LOCAL'],
    });
  });
});
