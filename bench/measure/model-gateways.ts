import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createTestDatabase, freePort } from '@slipway/testing';
import { npmProgram, pythonEnvironment } from '@slipway/testing/programs';
import { type RunningProcess, startProcess, waitForHttp } from './child-process.ts';
import { NOT_QUICK, QUICK } from './quick.ts';
import type { Report } from './report.ts';
import { type ServiceProcess, startScript, startService } from './service-process.ts';

export const MODEL = 'gpt-4o';
const MASTER_KEY = 'bench-master-key-0123456789-0123456789';
const LITELLM = '1.105.3';
const PORTKEY = '1.15.2';
/** Python services of this size start slowly on a busy machine. Milliseconds. */
const PEER_START_MS = 120_000;

/** A way to the same model, and the process that stands in it. */
export interface ModelWay {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the process in between. */
  readonly pid: number;
}

export interface ModelGatewaysOptions {
  /** How long the provider takes to answer [0]. Milliseconds. */
  readonly latencyMs?: number;
  /** LiteLLM of PyPI and Portkey's gateway of npm beside ours, where they can be had [false]. */
  readonly peers?: boolean;
  /** Our gateway without a folder of its own as well [false]. */
  readonly waiting?: boolean;
  /** Settings of our gateway beside what it needs. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ModelGateways {
  readonly direct: ModelWay;
  /** The least that a proxy can do. */
  readonly relay: ModelWay;
  readonly gateway: ModelWay;
  /** Our gateway without a folder: a call waits until Postgres has its record. */
  readonly waiting: ModelWay | null;
  readonly peers: readonly ModelWay[];
  /** A key of our gateway. @param limits as LiteLLM names them: `max_budget`, `rpm_limit`, `tpm_limit`. */
  key(limits?: Readonly<Record<string, unknown>>): Promise<string>;
  /** What our gateway has written. */
  output(): string;
  close(): Promise<void>;
}

/**
 * A model that costs nothing, with nothing, a bare relay, our gateway and its peers before it; each a process of its
 * own.
 */
export async function openModelGateways(
  report: Report,
  { latencyMs = 0, peers = false, waiting = false, env = {} }: ModelGatewaysOptions = {},
): Promise<ModelGateways> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-gateways-'));
  const running: RunningProcess[] = [];
  const started = <T extends RunningProcess>(one: T): T => {
    running.push(one);
    return one;
  };
  const close = async (): Promise<void> => {
    for (const one of running.reverse()) await one.stop();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const upstream = started(await startScript('./stub-upstream.ts', String(latencyMs)));
    const relay = started(await startScript('./bare-relay.ts', upstream.url));
    const startGateway = async (more: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
      started(
        await startService('llm-gateway', {
          DATABASE_URL: database.urls.gateway,
          LLM_GATEWAY_MASTER_KEY: MASTER_KEY,
          LLM_BASE_URL: `${upstream.url}/v1`,
          LLM_API_KEY: 'sk-bench',
          LLM_MODEL: MODEL,
          // As it is shipped: one log line a call, a folder for calls under way.
          LOG_LEVEL: 'info',
          ...more,
          ...env,
        }),
      );
    const gateway = await startGateway({ DATA_DIR: path.join(folder, 'gateway') });
    const without = waiting ? await startGateway({}) : null;
    const key = (limits: Readonly<Record<string, unknown>> = {}): Promise<string> => makeKey(gateway, limits);
    const found: ModelWay[] = [];
    if (peers && QUICK) report.note(`LiteLLM and Portkey are left out: ${NOT_QUICK}`);
    if (peers && !QUICK) {
      for (const open of [openLiteLlm, openPortkey]) {
        const peer = await open(upstream.url, folder, started);
        if ('missing' in peer) report.note(`a peer is not measured: ${peer.missing}`);
        else found.push(peer);
      }
    }
    return {
      direct: { name: 'direct', url: upstream.url, headers: {}, pid: upstream.pid },
      relay: { name: 'relay', url: relay.url, headers: {}, pid: relay.pid },
      gateway: {
        name: 'gateway',
        url: gateway.url,
        headers: { authorization: `Bearer ${await key()}` },
        pid: gateway.pid,
      },
      waiting:
        without === null
          ? null
          : {
              name: 'gateway without a folder',
              url: without.url,
              headers: { authorization: `Bearer ${await makeKey(without, {})}` },
              pid: without.pid,
            },
      peers: found,
      key,
      output: () => gateway.output(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Peer = ModelWay | { readonly missing: string };
type Started = <T extends RunningProcess>(one: T) => T;

/** One worker, as the others are one process. Without a database: no budgets, no ledger. */
async function openLiteLlm(upstream: string, folder: string, started: Started): Promise<Peer> {
  const environment = await pythonEnvironment({
    name: `litellm/${LITELLM}`,
    packages: [`litellm[proxy]==${LITELLM}`],
    installMs: 600_000,
  });
  if ('missing' in environment) return environment;
  const [port, config] = [await freePort(), path.join(folder, 'litellm.yaml')];
  await writeFile(
    config,
    `model_list:\n  - model_name: ${MODEL}\n    litellm_params:\n      model: openai/${MODEL}\n      api_base: ${upstream}/v1\n      api_key: sk-bench\ngeneral_settings:\n  master_key: sk-${MASTER_KEY}\n`,
  );
  const process = started(
    startProcess(
      environment.program('litellm'),
      ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
      {
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_LOG: 'ERROR',
        NO_PROXY: '127.0.0.1',
      },
    ),
  );
  const url = `http://127.0.0.1:${port}`;
  await waitForHttp(`${url}/health/liveliness`, process, PEER_START_MS);
  return { name: `LiteLLM ${LITELLM}`, url, headers: { authorization: `Bearer sk-${MASTER_KEY}` }, pid: process.pid };
}

async function openPortkey(upstream: string, _folder: string, started: Started): Promise<Peer> {
  const program = await npmProgram('@portkey-ai/gateway', PORTKEY);
  if ('missing' in program) return program;
  const port = await freePort();
  const script = path.join(program.modules, '@portkey-ai/gateway/build/start-server.js');
  const running = started(startProcess(process.execPath, [script, '--headless', `--port=${port}`], {}));
  const url = `http://127.0.0.1:${port}`;
  await waitForHttp(url, running, PEER_START_MS);
  const headers = {
    authorization: 'Bearer sk-bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  };
  return { name: `Portkey ${PORTKEY}`, url, headers, pid: running.pid };
}

async function makeKey(gateway: ServiceProcess, limits: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await fetch(`${gateway.url}/key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...limits, metadata: { org_id: 'org_bench', conversation_id: randomUUID() } }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key: ${response.status}`);
  return key;
}

/** A body of about 0.45 kB, as floor.ts' round trip has. */
export function modelRequest(stream: boolean, content = 'x'.repeat(400)): string {
  return JSON.stringify({
    model: MODEL,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content }],
  });
}
