import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { SandboxFarm } from '@slipway/sandbox/testing';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';
import { Agent, request } from 'undici';
import type { PoolSpec } from '../../apps/runtime-api/dist/pool/pool-context.js';
import type { FarmReplicaOptions } from './farm-replica.ts';

const SCRIPT = fileURLToPath(new URL('./farm-replica.ts', import.meta.url));
const API_KEY = 'a service key of the chaos tests, long enough';
/** What a client waits for an answer before it asks another replica. Milliseconds. */
const PATIENCE_MS = 4_000;
/** Between two tries. Milliseconds. */
const RETRY_MS = 50;

interface Replica {
  readonly port: number;
  process: ChildProcess;
}

export interface Answered {
  readonly status: number;
  readonly body: Runtime & { readonly code?: string };
}

/** Processes of runtime-api over one Postgres and one farm of sandboxes, and a client that does not give up. */
export class ClaimReplicas {
  readonly replicas: Replica[] = [];
  readonly database: TestDatabase;
  readonly owner: pg.Pool;
  readonly farm: SandboxFarm;
  private readonly options: string;
  private readonly agent = new Agent({ connections: 256, connect: { timeout: 1_000 } });
  private closed = false;
  kills = 0;
  stops = 0;

  private constructor(database: TestDatabase, owner: pg.Pool, farm: SandboxFarm, options: string) {
    this.database = database;
    this.owner = owner;
    this.farm = farm;
    this.options = options;
  }

  static async start(count: number, target: number, leaseSeconds: number): Promise<ClaimReplicas> {
    const database = await createTestDatabase();
    const keys = generateKeyPairSync('ed25519');
    const farm = await new SandboxFarm(
      keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    ).start();
    const pool: PoolSpec = {
      poolId: 'default',
      image: 'slipway-sandbox',
      imageReference: null,
      runtimeClass: null,
      size: 1,
      bounds: { min: target, max: target },
      maxAgeSeconds: 3_600,
    };
    const options: FarmReplicaOptions = {
      databaseUrl: database.urls.runtime,
      apiKey: API_KEY,
      encryptionKey: 'an encryption key of the chaos tests, long enough',
      activationKey: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      farmUrl: farm.url,
      pools: [pool],
      pace: {
        startsAtOnce: 100,
        startTimeoutMs: 30_000,
        dormantTimeoutMs: 30_000,
        refillsBesideClaims: true,
        surplusAfterMs: 60_000,
      },
      leaseSeconds,
    };
    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
    owner.on('error', () => {});
    const own = new ClaimReplicas(database, owner, farm, JSON.stringify(options));
    for (let index = 0; index < count; index += 1) {
      const port = await freePort();
      own.replicas.push({ port, process: own.spawn(port) });
    }
    try {
      for (const { port } of own.replicas) await until('a replica is ready', () => own.isReady(port), 60_000);
      await until(
        'the pool is full',
        async () => (await own.count(`SELECT 1 FROM runtime.slot WHERE state = 'ready'`)) >= target,
        60_000,
      );
      return own;
    } catch (error) {
      await own.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const replica of this.replicas) {
      replica.process.kill('SIGCONT');
      replica.process.kill('SIGKILL');
    }
    await this.agent.destroy();
    await this.owner.end();
    await this.farm.close();
    await this.database.close();
  }

  async count(sql: string): Promise<number> {
    return (await this.owner.query(sql)).rowCount ?? 0;
  }

  /** Dies at once, and another one takes its place. Answers when that is ready. */
  async kill(index: number): Promise<void> {
    const replica = this.replicas[index] as Replica;
    this.kills += 1;
    replica.process.kill('SIGKILL');
    if (this.closed) return;
    replica.process = this.spawn(replica.port);
    await until('the next one is ready', () => this.isReady(replica.port), 60_000);
  }

  /** Is stopped for a while, with all that it holds, and goes on as if nothing had been. */
  async stop(index: number, milliseconds: number): Promise<void> {
    const { process } = this.replicas[index] as Replica;
    this.stops += 1;
    process.kill('SIGSTOP');
    await wait(milliseconds);
    process.kill('SIGCONT');
  }

  /** One request to one replica; `null`: no answer. */
  async once(index: number, path: string, org: string, body: object): Promise<Answered | null> {
    const { port } = this.replicas[index] as Replica;
    try {
      const answer = await request(`http://127.0.0.1:${port}${path}`, {
        dispatcher: this.agent,
        method: 'POST',
        headers: { 'x-api-key': API_KEY, 'x-slipway-org': org, 'content-type': 'application/json', prefer: 'wait=2' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Answered['body'] };
    } catch {
      return null;
    }
  }

  /**
   * As every client does: the same request, to whichever replica, until one answers something that is not to be tried
   * again. @throws Error after a minute and a half.
   */
  async insist(path: string, org: string, body: object): Promise<Answered> {
    const end = performance.now() + 90_000;
    let last: Answered | null = null;
    const seen = new Map<string, number>();
    while (performance.now() < end) {
      last = await this.once(Math.floor(Math.random() * this.replicas.length), path, org, body);
      if (last !== null && last.status < 500) return last;
      const words = last === null ? 'no answer' : `${last.status} ${JSON.stringify(last.body)}`;
      seen.set(words, (seen.get(words) ?? 0) + 1);
      await wait(RETRY_MS);
    }
    throw new Error(
      `${path} ${JSON.stringify(body)} was not answered: ${[...seen].map(([words, times]) => `${times} × ${words}`).join('; ')}`,
    );
  }

  private spawn(port: number): ChildProcess {
    return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SCRIPT, String(port), this.options], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  }

  private async isReady(port: number): Promise<boolean> {
    const answer = await request(`http://127.0.0.1:${port}/ready`, { dispatcher: this.agent });
    await answer.body.dump();
    return answer.statusCode === 200;
  }
}
