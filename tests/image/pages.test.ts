import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, it } from '@jest/globals';
import { itUnless } from '@slipway/testing/jest';
import { ROOT } from '../../deploy/images/image-parts.ts';

const load = <Module>(script: string): Promise<Module> =>
  import(path.join(ROOT, 'apps/web/scripts', script)) as Promise<Module>;
const { buildId } = await load<{ buildId(root: string): string }>('build-id.mjs');
const { fixKeys } = await load<{ fixKeys(folder: string): void }>('fixed-keys.mjs');
const built = path.join(ROOT, 'apps/web/.next/standalone/apps/web/.next');

/**
 * With it two builds of the same sources are the same to the byte; that whole builds are was tried by hand, because one
 * takes most of a minute.
 */
describe('what the pages hold of their build', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-pages-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  itUnless(existsSync(built) ? false : 'apps/web is not built')(
    'is the hash of their sources, and keys that are made of it',
    () => {
      assert.match(buildId(ROOT), /^[0-9a-f]{24}$/);
      assert.equal(readFileSync(path.join(built, 'BUILD_ID'), 'utf8'), buildId(ROOT));
      const keys = () =>
        ['prerender-manifest.json', 'server/preview-props.json', 'server/server-reference-manifest.json'].map((file) =>
          readFileSync(path.join(built, file), 'utf8'),
        );
      const before = keys();
      fixKeys(built);
      assert.deepEqual(keys(), before);
    },
  );

  it('is the same whatever keys Next has made, wherever it wrote them', () => {
    const build = (name: string): string[] => {
      const [id, signing, encryption, action] = [
        randomBytes(16),
        randomBytes(32),
        randomBytes(32),
        randomBytes(32),
      ].map((key, index) => key.toString(index < 3 ? 'hex' : 'base64'));
      const files = {
        BUILD_ID: 'the-build',
        'prerender-manifest.json': JSON.stringify({ preview: { previewModeId: id } }),
        'server/preview-props.json': JSON.stringify({
          previewModeId: id,
          previewModeSigningKey: signing,
          previewModeEncryptionKey: encryption,
        }),
        'server/server-reference-manifest.json': JSON.stringify({ encryptionKey: action }),
        'server/server-reference-manifest.js': `self.manifest = ${JSON.stringify(`{"encryptionKey":"${action}"}`)}`,
      };
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(folder, name, file)), { recursive: true });
        writeFileSync(path.join(folder, name, file), content);
      }
      fixKeys(path.join(folder, name));
      return Object.keys(files).map((file) => readFileSync(path.join(folder, name, file), 'utf8'));
    };
    assert.deepEqual(build('one'), build('two'));
  });
});
