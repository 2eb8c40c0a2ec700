// Create → the first command's output, in a real pod that was warm: POST /start, then the command through agent-server.
// `echo` and `node -v`, one session at a time, the pool full before each.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { missingForTestCluster } from '@slipway/testing/cluster';
import { Agent, type Dispatcher, Pool } from 'undici';
import { ClusterPlace } from './measure/cluster-place.ts';
import { commitFloor, loopbackFloor } from './measure/floor.ts';
import { percentile, timeEach } from './measure/percentile.ts';
import { NOT_QUICK, QUICK } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startService } from './measure/service-process.ts';

const STOCK = 6;
/** Of each command. */
const N = Number(process.env['FIRST_OUTPUT_N'] ?? 100);
const WARMUP = 3;
const COMMANDS = ['echo first', 'node -v'] as const;
/** agent-sandbox on a real node of such a machine, the claim alone (facts/peers-measured.md 1). Milliseconds. */
const PEER_CLAIM = 53.4;

interface Sample {
  readonly claim: number;
  readonly total: number;
}

export default async function run(report: Report): Promise<void> {
  const missing = QUICK ? NOT_QUICK : await missingForTestCluster();
  if (missing !== null) return report.note(`not measured: ${missing}`);
  const place = await ClusterPlace.open({ image: true });
  try {
    if (!place.cluster.capabilities.podAddresses)
      return report.note('not measured: this process does not reach the addresses of pods on this cluster.');
    const api = await startService('runtime-api', place.environment([place.realTemplate('real', STOCK)]));
    const client = new Pool(api.url, { connections: 1 });
    const sandboxes = new Agent();
    try {
      let session = 0;
      const once = async (command: string): Promise<Sample> => {
        await until('the pool is full and nothing is being made or removed', () => isQuiet(place), 120_000);
        session += 1;
        const began = performance.now();
        const runtime = await post<Runtime>(
          client,
          '/start',
          { 'x-api-key': place.apiKey },
          { session_id: `session-${session}`, environment: { SLIPWAY: '1' } },
        );
        const claim = performance.now() - began;
        const { stdout, exit_code } = await execute(sandboxes, runtime, command);
        const total = performance.now() - began;
        if (exit_code !== 0 || !/^(first|v24\.\d+\.\d+)\s*$/.test(stdout))
          throw new Error(`${command} ended with ${exit_code}: ${stdout}`);
        await post(client, '/stop', { 'x-api-key': place.apiKey }, { runtime_id: runtime.runtime_id });
        return { claim, total };
      };
      for (let index = 0; index < WARMUP; index += 1) for (const command of COMMANDS) await once(command);
      const samples = new Map<string, Sample[]>(COMMANDS.map((command) => [command, []]));
      for (let index = 0; index < N; index += 1)
        for (const command of COMMANDS) samples.get(command)?.push(await once(command));
      const calls = (await commitFloor(place.database.ownerUrl)) + 4 * (await loopbackFloor());
      for (const command of COMMANDS) {
        const [program = '', ...args] = command.split(' ');
        const alone = percentile(
          await timeEach(50, () => promisify(execFile)(program === 'node' ? process.execPath : program, args)),
          0.5,
        );
        const all = samples.get(command) ?? [];
        const name = program;
        const floor = calls + alone;
        report.figure({
          figure: `${name}-p50`,
          value: percentile(
            all.map(({ total }) => total),
            0.5,
          ),
          unit: 'ms',
          floor,
          n: all.length,
        });
        report.figure({
          figure: `${name}-p99`,
          value: percentile(
            all.map(({ total }) => total),
            0.99,
          ),
          unit: 'ms',
          floor,
          n: all.length,
        });
        report.figure({
          figure: `${name}-claim-p50`,
          value: percentile(
            all.map(({ claim }) => claim),
            0.5,
          ),
          unit: 'ms',
          peer: PEER_CLAIM,
          n: all.length,
        });
        report.figure({
          figure: `${name}-claim-p99`,
          value: percentile(
            all.map(({ claim }) => claim),
            0.99,
          ),
          unit: 'ms',
          n: all.length,
        });
        report.figure({
          figure: `${name}-command-p50`,
          value: percentile(
            all.map(({ claim, total }) => total - claim),
            0.5,
          ),
          unit: 'ms',
          n: all.length,
        });
      }
      report.note(
        'floor: one synchronous commit, four calls over loopback, and the command alone as a child of a process of this machine.',
      );
    } finally {
      await client.close();
      await sandboxes.close();
      await api.stop();
    }
  } finally {
    await place.close();
  }
}

async function isQuiet(place: ClusterPlace): Promise<boolean> {
  const { rows } = await place.owner.query<{ ready: number; moving: number }>(
    `SELECT count(*) FILTER (WHERE state = 'ready')::int AS ready, count(*) FILTER (WHERE state NOT IN ('ready', 'gone'))::int AS moving FROM runtime.slot`,
  );
  return rows[0]?.ready === STOCK && rows[0].moving === 0;
}

async function execute(
  dispatcher: Dispatcher,
  { url, session_api_key }: Runtime,
  command: string,
): Promise<{ stdout: string; exit_code: number }> {
  const { origin } = new URL(url);
  return post(
    dispatcher,
    '/api/bash/execute_bash_command',
    { 'x-session-api-key': session_api_key },
    { command, timeout: 30 },
    origin,
  );
}

async function post<T>(
  dispatcher: Dispatcher,
  path: string,
  headers: Record<string, string>,
  body: object,
  origin?: string,
): Promise<T> {
  const options = {
    path,
    method: 'POST' as const,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const answer = await dispatcher.request(
    origin === undefined ? (options as Dispatcher.RequestOptions) : { ...options, origin },
  );
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path} was answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as T;
}
