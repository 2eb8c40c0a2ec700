import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { ImageFile, ReadImage } from '../image-archive-reader.ts';
import { appFindingsOf } from './app-requirements.ts';

const file = (content: string, more: Partial<ImageFile> = {}): ImageFile => ({
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  target: '',
  sha256: '',
  head: Buffer.from(content),
  ...more,
});
const bill = JSON.stringify({
  bomFormat: 'CycloneDX',
  components: [
    { name: 'node', version: '24', purl: 'pkg:generic/node@24', licenses: [{}] },
    { name: 'libc6', version: '2', purl: 'pkg:deb/debian/libc6@2', licenses: [{}] },
  ],
});
const config = {
  User: '10001:10001',
  Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
  Entrypoint: ['node', '/opt/slipway/main.js'],
};
const files: Readonly<Record<string, ImageFile>> = {
  'opt/slipway/main.js': file('start();'),
  'usr/local/bin/node': file('\x7fELF', { mode: 0o755 }),
  'usr/lib/x86_64-linux-gnu/libc.so.6': file('', { mode: 0o755 }),
  tmp: file('', { kind: 'directory', mode: 0o1777 }),
  'usr/share/doc/slipway/sbom.cdx.json': file(bill),
  'usr/share/doc/slipway/LICENSES.txt': file('MIT '.repeat(300)),
};
const missingOf = (
  more: Readonly<Record<string, ImageFile>>,
  configured: ReadImage['config'] = config,
): readonly string[] =>
  appFindingsOf({ architecture: 'amd64', config: configured, files: new Map(Object.entries({ ...files, ...more })) })
    .missing;

describe('the check of an app’s image', () => {
  it('finds nothing in one that is as it must be', () => assert.deepEqual(missingOf({}), []));

  const bad: readonly [string, Readonly<Record<string, ImageFile>>, RegExp][] = [
    ['a shell', { 'usr/bin/sh': file('', { mode: 0o755 }) }, /^\/usr\/bin\/sh can be run; only Node has to\.$/],
    ['a setuid program', { 'usr/lib/x86_64-linux-gnu/su': file('', { mode: 0o4755 }) }, /su is setuid or setgid/],
    [
      'a file that the app could change',
      { 'opt/slipway/main.js': file('', { uid: 10_001 }) },
      /can be changed by users other than root/,
    ],
    [
      'a file that the app cannot read',
      { 'opt/slipway/other.js': file('', { mode: 0o600 }) },
      /cannot be read by the image/,
    ],
    ['a source map', { 'opt/slipway/main.js.map': file('{}') }, /main\.js\.map is a source map/],
    [
      'a source map within a file',
      { 'opt/slipway/a.js': file(`//# sourceMappingURL=data:application/json;base64,${'A'.repeat(300)}`) },
      /a\.js holds a source map/,
    ],
    ['an environment file', { 'opt/slipway/.env.production': file('A=1') }, /is an environment file/],
    [
      'a private key',
      { 'opt/slipway/a.js': file(`x = \`-----BEGIN PRIVATE KEY-----\n${'M'.repeat(64)}\``) },
      /a\.js holds a private key/,
    ],
    ['a token', { 'opt/slipway/a.js': file(`'ghp_${'a1'.repeat(18)}'`) }, /a\.js holds a token of GitHub/],
    [
      'no bill of materials',
      { 'usr/share/doc/slipway/sbom.cdx.json': file('{}') },
      /names neither Node nor a package of Debian/,
    ],
  ];
  for (const [what, more, sentence] of bad) {
    it(`names ${what}`, () => {
      const missing = missingOf(more);
      assert.equal(missing.length, 1, missing.join('\n'));
      assert.match(missing[0]!, sentence);
    });
  }

  it('names a user that is root, a volume, and a secret among the variables', () => {
    assert.match(missingOf({}, { ...config, User: '0' })[0] ?? '', /USER is `0`/);
    assert.match(missingOf({}, { ...config, Volumes: { '/data': {} } })[0] ?? '', /VOLUME \/data/);
    assert.match(
      missingOf({}, { ...config, Env: ['SESSION_SECRET=x'] })[0] ?? '',
      /^ENV SESSION_SECRET belongs into a Secret/,
    );
  });
});
