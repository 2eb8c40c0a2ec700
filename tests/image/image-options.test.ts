import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless, itUnless } from '@slipway/testing/jest';
import { checkArchive } from '../../deploy/images/check.ts';
import { readOptions } from '../../deploy/images/image-options.ts';
import { buildSandboxImage, type SandboxImage } from '../../deploy/images/sandbox-image.ts';
import { type RunningContainer, runInContainer, startContainer } from './container.ts';
import { UnpackedImage } from './unpacked-image.ts';

const options = readOptions(process.env['SLIPWAY_IMAGE_OPTIONS'] ?? '');
const TOKEN = 'a token that only the two of them know';
/** Each is a Debian of its own: minutes, and hundreds of megabytes. */
const skip =
  options.length === 0
    ? 'say which options to build and try: SLIPWAY_IMAGE_OPTIONS=ipython,vscode (docs/sandbox-images.md); needs root and minutes'
    : false;

describeUnless(skip)('the sandbox image with options', () => {
  let image: SandboxImage;
  let unpacked: UnpackedImage;
  let actionServer: RunningContainer;
  let url: string;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-options-'));
  const volume = (name: string): string => {
    const at = path.join(folder, name);
    if (existsSync(at)) return at;
    mkdirSync(at);
    chownSync(at, 0, 10_000);
    chmodSync(at, 0o2777);
    return at;
  };
  const volumes = (): Record<string, string> => ({
    [volume('workspace')]: '/workspace',
    [volume('state')]: '/var/lib/slipway',
    [volume('tmp')]: '/tmp',
    [volume('home')]: '/home/agent',
  });
  const ask = async (method: string, route: string, body?: object): Promise<string> => {
    const answer = await fetch(`${url}${route}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-session-api-key': TOKEN },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${text}\n${actionServer.output()}`);
    return text;
  };
  beforeAll(async () => {
    image = await buildSandboxImage({ signal: AbortSignal.timeout(20 * 60_000), options });
    unpacked = new UnpackedImage(image.archive);
    const env = {
      ...unpacked.env,
      HOST: '127.0.0.1',
      PORT: '0',
      WORKSPACE_DIR: '/workspace',
      STATE_DIR: '/var/lib/slipway',
      HOME: '/home/agent',
      ACTION_SERVER_TOKEN: TOKEN,
    };
    actionServer = startContainer({
      root: unpacked.root,
      uid: 10_002,
      volumes: volumes(),
      env,
      command: ['node', '/opt/slipway/action-server.cjs'],
    });
    const file = path.join(folder, 'state/action-server.json');
    url = `http://127.0.0.1:${(await until(file, () => JSON.parse(readFileSync(file, 'utf8')) as { port: number }, 30_000)).port}`;
  });
  afterAll(async () => {
    await actionServer?.stop();
    unpacked?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is a sandbox image like any other, and its name says what it has', async () => {
    assert.deepEqual(
      (await checkArchive(image.archive, process.arch === 'arm64' ? 'arm64' : 'amd64', AbortSignal.timeout(120_000)))
        .missing,
      [],
    );
    assert.match(image.tags.versioned, new RegExp(`-${options.join('-')}$`));
  });

  itUnless(options.includes('ipython') ? false : 'not chosen')('ipython: runs a cell', async () => {
    assert.doesNotMatch(await ask('GET', '/unavailable-tools'), /IPythonRunCellAction/);
    const said = await ask('POST', '/execute_action', {
      action: { kind: 'IPythonRunCellAction', code: 'import sys\nprint(6 * 7, sys.version_info.major)' },
    });
    assert.match(said, /42 3/);
  });

  itUnless(options.includes('browser') ? false : 'not chosen')(
    'browser: has a Chromium that shows a page, with fonts for it',
    async () => {
      assert.doesNotMatch(await ask('GET', '/unavailable-tools'), /BrowserNavigateAction/);
      const command = [
        'bash',
        '-c',
        'chromium-headless-shell --no-sandbox --disable-gpu --dump-dom "data:text/html,<h1>shown</h1>" 2>/dev/null; find /usr/share/fonts -iname "*noto*" -type f | wc -l',
      ];
      const said = await runInContainer({
        root: unpacked.root,
        uid: 10_002,
        volumes: volumes(),
        env: { ...unpacked.env, HOME: '/home/agent' },
        command,
      });
      assert.match(said, /<h1>shown<\/h1>[\s\S]*\n[1-9]\d*$/);
    },
  );

  itUnless(options.includes('vscode') ? false : 'not chosen')(
    'vscode: starts when it is opened, and lets in with its token alone',
    async () => {
      assert.deepEqual(JSON.parse(await ask('GET', '/vscode/status')), { running: false, enabled: true });
      const opened = JSON.parse(await ask('POST', '/vscode/open', { host: '127.0.0.1' })) as {
        open: boolean;
        port: number;
        token: string;
        reason?: string;
      };
      assert.ok(opened.open, opened.reason);
      const page = `http://127.0.0.1:${opened.port}/`;
      assert.equal((await fetch(page)).status, 403);
      assert.equal((await fetch(`${page}?tkn=${opened.token}`, { redirect: 'manual' })).status, 302);
    },
  );
});
