import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { skipTest } from '@slipway/testing/jest';

const BUILT = path.join(import.meta.dirname, '../.next');
/** Of every page what it was on 2026-11-29. Bytes, gzip. A page may have 10 % more, then this is to be looked at. */
const PAGES: Readonly<Record<string, number>> = {
  '/login/page': 269_600,
  '/[org]/page': 326_800,
  '/[org]/conversations/page': 323_900,
  '/[org]/conversations/[id]/page': 416_900,
  '/[org]/conversations/[id]/review/page': 360_500,
  '/[org]/admin/usage/page': 297_800,
};
const MORE = 1.1;

/** What a page cannot start without, as Next lists it. */
function firstScripts(page: string): string[] {
  const folder = path.join(BUILT, 'server/app', path.dirname(page));
  const manifest = readFileSync(path.join(folder, 'page_client-reference-manifest.js'), 'utf8');
  const made: { __RSC_MANIFEST?: Record<string, { entryJSFiles: Record<string, string[]> }> } = {};
  vm.runInNewContext(manifest, { globalThis: made });
  const build = JSON.parse(readFileSync(path.join(folder, 'page/build-manifest.json'), 'utf8')) as {
    rootMainFiles: string[];
  };
  const entries = Object.values(made.__RSC_MANIFEST?.[page]?.entryJSFiles ?? {});
  return [...new Set([...build.rootMainFiles, ...entries.flat()])];
}

describe('the scripts that a page cannot start without', () => {
  for (const [page, before] of Object.entries(PAGES))
    it(`of ${page} have not grown unseen`, () => {
      if (!existsSync(path.join(BUILT, 'server/app'))) return skipTest('the pages are not built: npm run build');
      const files = firstScripts(page);
      expect(files.length).toBeGreaterThan(5);
      const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(path.join(BUILT, file))).length, 0);
      console.log(`${page}: ${bytes} bytes in ${files.length} files`);
      expect(bytes).toBeGreaterThan(before / MORE);
      expect(bytes).toBeLessThan(before * MORE);
    });
});
