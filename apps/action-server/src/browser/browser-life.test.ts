import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { allProcesses, signalPid } from '../process/process-table.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { noChromium, startTestSite, type TestSite, testBrowser } from '../testing/test-browser.js';

/** Processes of this one's browsers. */
const chromiums = () => {
  const rows = allProcesses();
  const found = new Set([process.pid]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
  }
  found.delete(process.pid);
  return [...found];
};

describeUnless(noChromium)('lifecycle of the browser', () => {
  let site: TestSite;
  beforeAll(async () => {
    site = await startTestSite(() => ({
      '/': '<title>Home</title><script>document.cookie = "kept=yes; max-age=9999"; document.title = document.cookie;</script>',
    }));
  });
  afterAll(() => site.close());

  it('begins with the first action, and is one for whoever still waits when others have given up; all that it started ends with it', async () => {
    const here = await testBrowser();
    expect([here.browser.missing, here.browser.current(), chromiums()]).toEqual([null, null, []]);
    const first = new AbortController();
    const gone = here.browser.open('sites', first.signal);
    const both = [1, 2].map(() => here.act({ kind: 'BrowserNavigateAction', url: site.url }));
    first.abort(new Error('given up'));
    await expect(gone).rejects.toThrow('given up');
    const id = here.browser.current()?.id;
    expect((await Promise.all(both)).map(({ page }) => page?.tab_id)).toEqual([
      here.browser.current()?.id,
      here.browser.current()?.id,
    ]);
    expect(id).toBeUndefined();
    expect(chromiums().length).toBeGreaterThan(1);
    expect(readdirSync(here.workspace)).toEqual([]);
    here.browser.close();
    await until('no process is left', () => chromiums().length === 0);
    await here.close();
  });

  it('is restarted after a death, and the answer says what was lost', async () => {
    const here = await testBrowser();
    await here.act({ kind: 'BrowserNavigateAction', url: `${site.url}/?first` });
    const before = here.browser.current()?.id;
    for (const pid of chromiums()) signalPid(pid, 'SIGKILL');
    await until('the death is noticed', () => here.browser.current() === null);
    const next = await here.act({ kind: 'BrowserListTabsAction' });
    expect(next.is_error).toBe(false);
    expect(next.text).toContain('The browser ended by itself; it is a new one from here on');
    expect(next.text).toContain(`Open were: ${site.url}/?first`);
    expect(here.browser.current()?.id).not.toBe(before);
    expect((await here.act({ kind: 'BrowserListTabsAction' })).text).not.toContain('ended by itself');
    await here.close();
  });

  it('stops after an idle time without viewers, also when callers gave up during its start; keeps sign-ins', async () => {
    const here = await testBrowser({ idleMs: 100 });
    const alone = new AbortController();
    const given = here.act({ kind: 'BrowserNavigateAction', url: site.url }, alone.signal);
    await until('it is being started', () => chromiums().length > 0);
    alone.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await until('it has ended', () => here.browser.running === null && chromiums().length === 0, 20_000);
    const letGo = here.browser.hold();
    let changes = 0;
    here.browser.onChange(() => {
      changes += 1;
    });
    await here.act({ kind: 'BrowserNavigateAction', url: site.url });
    expect(changes).toBeGreaterThan(0);
    await here.act({ kind: 'BrowserGetContentAction' });
    expect(here.browser.current()).not.toBeNull();
    letGo();
    await until('it has ended', () => here.browser.current() === null && chromiums().length === 0, 20_000);
    const again = await here.act({ kind: 'BrowserNavigateAction', url: site.url });
    expect(again.text).toContain('stopped while idle');
    expect(again.page?.title).toBe('kept=yes');
    await here.close();
  });

  it('is none where the image has no Chromium, in a sentence', async () => {
    const here = await testBrowser({ environment: new ShellEnvironment({ PATH: '/nowhere' }) });
    expect(here.browser.missing).toContain('its image has no Chromium');
    const refused = await here.act({ kind: 'BrowserGetStateAction' });
    expect([refused.error_code, refused.text, refused.page]).toEqual([
      'sandbox.tool-unavailable',
      here.browser.missing,
      null,
    ]);
    await here.close();
  });

  it('says what Chromium says when it does not start', async () => {
    const here = await testBrowser({
      environment: new ShellEnvironment({ PATH: process.env['PATH'] }),
      directory: '/dev/null/browser',
    });
    const refused = await here.act({ kind: 'BrowserGetStateAction' });
    expect([refused.is_error, refused.error_code]).toEqual([true, 'sandbox.tool-unavailable']);
    await here.close();
  });
});
