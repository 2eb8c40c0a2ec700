import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { checkArchive } from './check.ts';
import { BUNDLES, type BundleName, builtBundle, IMAGE_CONFIG } from './image-parts.ts';
import { type LayerEntry, writeLayer } from './layer.ts';
import { writeOciArchive } from './oci-archive.ts';

const signal = AbortSignal.timeout(60_000);
let folder: string;

const common = { uid: 0, gid: 0, mtime: 0 };
const file = (at: string, content: string | Buffer, mode = 0o755): LayerEntry => ({
  ...common,
  kind: 'file',
  path: at,
  mode,
  size: Buffer.byteLength(content),
  from: Buffer.from(content),
});
const directory = (at: string): LayerEntry => ({ ...common, kind: 'directory', path: at, mode: 0o755 });
const link = (at: string, target: string): LayerEntry => ({
  ...common,
  kind: 'symlink',
  path: at,
  mode: 0o777,
  target,
});
const program = Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(14), Buffer.from([62, 0]), Buffer.alloc(40)]);
const USERS =
  'root:x:0:0:root:/root:/bin/sh\nagent-server:x:10001:10000::/var/lib/slipway:/bin/false\nagent:x:10002:10000::/home/agent:/bin/bash\n';

/** The least that a sandbox can run: programs by another way than ours, since images differ. */
function complete(): LayerEntry[] {
  const bundles = (Object.entries(BUNDLES) as [BundleName, string][]).map(([name, at]) =>
    file(at.slice(1), readFileSync(builtBundle(name)), 0o644),
  );
  return [
    ...bundles,
    link('bin', 'usr/bin'),
    ...['bash', 'git', 'tar', 'python3', 'curl', 'rg', 'jq', 'tini'].map((name) => file(`usr/bin/${name}`, program)),
    file('opt/node/node', program),
    link('usr/local/bin/node', '/opt/node/node'),
    file('opt/slipway/node_modules/@lydell/node-pty-linux-x64/pty.node', program),
    file('etc/passwd', USERS, 0o644),
    file('etc/group', 'root:x:0:\nslipway:x:10000:\n', 0o644),
    file('etc/ssl/certs/ca-certificates.crt', 'certificates', 0o644),
    ...['workspace', 'home/agent', 'var/lib/slipway', 'tmp'].map(directory),
  ];
}

async function check(name: string, layers: readonly (readonly LayerEntry[])[], config: object = {}) {
  const written = [];
  for (const [n, entries] of layers.entries()) {
    const blob = path.join(folder, `${name}-${n}`);
    written.push({ ...(await writeLayer(entries, blob, signal)), file: blob, note: '' });
  }
  const archive = path.join(folder, `${name}.tar`);
  const plan = {
    architecture: 'amd64',
    created: '1970-01-01T00:00:00Z',
    config: { ...IMAGE_CONFIG, ...config },
    layers: written,
  };
  await writeOciArchive(plan, 'example.org/custom', ['1'], archive, signal);
  return checkArchive(archive, 'amd64', signal);
}

describe('the check of a custom image', () => {
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-check-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds nothing in an image that holds what a sandbox needs', async () => {
    assert.deepEqual(await check('complete', [complete()]), { missing: [], differs: [] });
  });

  it('names everything that an empty image is missing', async () => {
    const { missing } = await check('empty', [[directory('etc')]]);
    for (const word of [
      '/usr/local/bin/node',
      'agent-server.cjs',
      'action-server.cjs',
      'pty.node',
      '10001',
      '10002',
      'group slipway',
      '/workspace',
      '/home/agent',
      '/var/lib/slipway',
      '/tmp',
      'bash',
      'git',
      'tar',
      'ca-certificates',
    ])
      assert.ok(
        missing.some((sentence) => sentence.includes(word)),
        `${word} is not among:\n${missing.join('\n')}`,
      );
  });

  it('sees what a higher layer removed, and what it put in place of a folder', async () => {
    const { missing } = await check('removed', [
      complete(),
      [file('usr/bin/.wh.git', ''), file('home/agent', 'a file', 0o644), file('opt/node/.wh..wh..opq', '')],
    ]);
    assert.equal(missing.length, 3, missing.join('\n'));
    assert.match(missing.join('\n'), /^No Node at .*\nThere is no folder \/home\/agent.*\ngit is on none/);
  });

  it('keeps what a layer brings into a folder that it empties', async () => {
    const { missing } = await check('replaced', [
      complete(),
      [file('opt/node/.wh..wh..opq', ''), file('opt/node/node', program)],
    ]);
    assert.deepEqual(missing, []);
  });

  for (const [what, entry, sentence] of [
    [
      'a Node for another processor',
      file('opt/node/node', Buffer.concat([program.subarray(0, 18), Buffer.from([183, 0])])),
      /not a program for amd64/,
    ],
    [
      'a bundle that the agent could change',
      { ...file('opt/slipway/agent-server.cjs', 'x', 0o644), uid: 10_002 },
      /changed by users other than root/,
    ],
    [
      'users with other numbers',
      file('etc/passwd', USERS.replace('10002', '1000'), 0o644),
      /no user agent with UID 10002/,
    ],
    ['a shell that only root may run', file('usr/bin/bash', program, 0o700), /bash is on none/],
    ['a link that runs in a circle', link('usr/local/bin/node', '/usr/local/bin/node'), /^No Node at/],
  ] as const)
    it(`says so of ${what}`, async () => {
      const { missing } = await check(what, [complete(), [entry]]);
      assert.equal(missing.length, 1, missing.join('\n'));
      assert.match(missing[0]!, sentence);
    });

  it('lets pass, with a word about it, bundles of another version and a volume', async () => {
    const { missing, differs } = await check(
      'differs',
      [complete(), [file('opt/slipway/action-server.cjs', 'another', 0o644)]],
      { Volumes: { '/data': {} } },
    );
    assert.deepEqual(missing, []);
    assert.match(differs.join('\n'), /action-server.cjs is not the one of this checkout.*\nVOLUME \/data/);
  });

  it('refuses a file that is no image, and an image for another processor, by a sentence', async () => {
    writeFileSync(path.join(folder, 'text.tar'), 'not a tar');
    await assert.rejects(checkArchive(path.join(folder, 'text.tar'), 'amd64', signal), /tar .* ended with/);
    await check('amd64', [complete()]);
    await assert.rejects(
      checkArchive(path.join(folder, 'amd64.tar'), 'arm64', signal),
      /holds no image for linux\/arm64/,
    );
  });
});
