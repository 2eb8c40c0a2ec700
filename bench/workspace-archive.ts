// A workspace of 1 GiB out of a sandbox and into a blank one, through both of its processes, and the memory that costs
// them. No network, no store.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { until } from '@slipway/testing';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { peakRssMiB, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const APPS = fileURLToPath(new URL('../apps', import.meta.url));
const TOKEN = 'bench-token-of-at-least-32-characters';
const FILES = quick(2_048, 20);
const FILE_BYTES = quick(512 * 1024, 4096);
const N = quick(5, 1);
/**
 * E2B-family: a pause of about 4 s a GiB, a resume of about 1 s; of memory and disk together (facts/warm-pool.md).
 * Milliseconds.
 */
const PEER = { archive: 4_000, restore: 1_000 };

type Running = ReturnType<typeof startProcess>;

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-archive-bench-'));
  const keys = generateKeyPairSync('ed25519');
  const from = await startSandbox(path.join(folder, 'from'), keys.publicKey);
  const to = await startSandbox(path.join(folder, 'to'), keys.publicKey);
  try {
    const workspace = path.join(folder, 'from', 'workspace');
    await fill(workspace);
    const archive = path.join(folder, 'archive');
    const token = (op: string): string =>
      signed(
        { aud: 'slipway-archive', slot_id: 'slot', pod_uid: 'pod', op, part: 'workspace', exp: Date.now() / 1000 + 50 },
        keys.privateKey,
      );
    const [archives, restores, readings, unpackings]: [number[], number[], number[], number[]] = [[], [], [], []];
    const memories = await Promise.all([from, to].flatMap(({ processes }) => processes.map(({ pid }) => rssMiB(pid))));
    for (let index = 0; index <= N; index += 1) {
      const reading = await timed(() => shell(`tar -cf - -C '${workspace}' . | cat >/dev/null`));
      const out = await timed(async () => {
        const answer = await send(`${from.url}/api/archive/workspace`, 'GET', token('read'));
        if (answer.statusCode !== 200) throw new Error(`archive: ${answer.statusCode}`);
        await pipeline(answer, createWriteStream(archive));
      });
      await shell(`rm -rf '${folder}/plain'; mkdir '${folder}/plain'`);
      const unpacking = await timed(() => shell(`tar -cf - -C '${workspace}' . | tar -xf - -C '${folder}/plain'`));
      await shell(`rm -rf '${folder}/plain' '${folder}/to/workspace/'*`);
      const back = await timed(async () => {
        const answer = await send(`${to.url}/api/archive/workspace`, 'PUT', token('write'), archive);
        if (answer.statusCode !== 204) throw new Error(`restore: ${answer.statusCode}`);
      });
      // The first finds caches cold and code not compiled.
      if (index === 0) continue;
      archives.push(out);
      restores.push(back);
      readings.push(reading);
      unpackings.push(unpacking);
    }
    report.note(
      `${FILES} files of ${FILE_BYTES / 1024} KiB, of which an eighth is noise; the archive has ${Math.round((await stat(archive)).size / 2 ** 20)} MiB`,
    );
    report.figure({
      figure: 'archive',
      value: percentile(archives, 0.5),
      unit: 'ms',
      floor: percentile(readings, 0.5),
      peer: PEER.archive,
      n: N,
    });
    report.figure({
      figure: 'restore',
      value: percentile(restores, 0.5),
      unit: 'ms',
      floor: percentile(unpackings, 0.5),
      peer: PEER.restore,
      n: N,
    });
    const peaks = await Promise.all([from, to].flatMap(({ processes }) => processes.map(({ pid }) => peakRssMiB(pid))));
    const grown = peaks.map((peak, index) => peak - (memories[index] ?? 0));
    report.figure({ figure: 'memory-agent-server', value: Math.max(grown[0] ?? 0, grown[2] ?? 0), unit: 'MiB', n: N });
    report.figure({ figure: 'memory-action-server', value: Math.max(grown[1] ?? 0, grown[3] ?? 0), unit: 'MiB', n: N });
  } finally {
    for (const { processes } of [from, to]) for (const running of processes) await running.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Both processes, blank; agent-server first. */
async function startSandbox(folder: string, publicKey: KeyObject): Promise<{ url: string; processes: Running[] }> {
  const at = (name: string): string => path.join(folder, name);
  for (const name of ['workspace', 'home']) await mkdir(at(name), { recursive: true });
  const common = { WORKSPACE_DIR: at('workspace'), ACTION_SERVER_TOKEN: TOKEN, LOG_LEVEL: 'warn' };
  const tools = startProcess(process.execPath, [`${APPS}/action-server/bundle/action-server.cjs`], {
    ...common,
    HOME_DIR: at('home'),
    STATE_DIR: at('tools'),
  });
  const agent = startProcess(process.execPath, [`${APPS}/agent-server/bundle/agent-server.cjs`], {
    ...common,
    SLOT_ID: 'slot',
    POD_UID: 'pod',
    STATE_DIR: at('state'),
    WARM_EVERY_SECONDS: '0',
    ACTIVATION_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    ACTION_SERVER_URL: `http://127.0.0.1:${await portOf(at('tools/action-server.json'))}`,
  });
  return { url: `http://127.0.0.1:${await portOf(at('state/listening.json'))}`, processes: [agent, tools] };
}

async function portOf(file: string): Promise<number> {
  await until(file, () => existsSync(file));
  return (JSON.parse(readFileSync(file, 'utf8')) as { port: number }).port;
}

/** An eighth of each file is noise, the remainder text that repeats: about what a project with its dependencies is. */
async function fill(workspace: string): Promise<void> {
  const lines = Array.from({ length: 16_384 }, (_, line) =>
    createHash('sha1')
      .update(String(line % 97))
      .digest('hex'),
  );
  const text = Buffer.from(lines.join('\n')).subarray(0, (FILE_BYTES / 8) * 7);
  for (let index = 0; index < FILES; index += 1) {
    const directory = path.join(workspace, `directory-${index % 64}`);
    await mkdir(directory, { recursive: true });
    await writeFile(
      path.join(directory, `file-${index}`),
      Buffer.concat([text, randomBytes(FILE_BYTES - text.length)]),
    );
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function shell(command: string): Promise<void> {
  const running = startProcess('sh', ['-c', command], {});
  await new Promise<void>((resolve, reject) =>
    running.child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command}: ${running.output()}`)),
    ),
  );
}

function send(url: string, method: string, token: string, file?: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: { authorization: `Bearer ${token}` } }, resolve);
    request.once('error', reject);
    if (file === undefined) request.end();
    else pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), request).catch(reject);
  });
}

function signed(claims: object, key: KeyObject): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = `${encode({ alg: 'EdDSA' })}.${encode(claims)}`;
  return `${head}.${sign(null, Buffer.from(head), key).toString('base64url')}`;
}
