import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
import { migrate, serviceUrl } from '@slipway/db/migrate';
import { migrateQueue } from '@slipway/queue/migrate';
import { endLeftovers } from './leftovers.ts';
import { planServices } from './services.ts';
import { type LocalService, loadSecrets, PORT_OFFSETS, ROOT, requireFreePort } from './settings.ts';
import { Supervised } from './supervisor.ts';

export interface StackOptions {
  /** The port that people open; the other services take the next ones. */
  readonly port: number;
  readonly dataDirectory: string;
  /** The caller's environment: DATABASE_URL, REDIS_URL, LLM_* and the like change the default. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
  /** Services to leave out, for a test that has no use of them. */
  readonly without?: ReadonlyArray<LocalService>;
}

export interface Stack {
  readonly url: string;
  readonly dataDirectory: string;
  /** The owner of the database: for looking into it, never for a service. */
  readonly ownerUrl: string;
  /** The running process of a service, as of now: it changes when the service was started again. */
  pidOf(service: string): number;
  stop(): Promise<void>;
}

/** Longest that a service may take from its start to being ready. Milliseconds; the slowest is Next on a busy machine. */
const READY_TIMEOUT_MS = 60_000;

/**
 * Starts the whole of Slipway on this machine: Postgres (unless DATABASE_URL names one), migrations, identity, every service, all on loopback.
 * @throws Error with one sentence that says what is in the way; what had been started is stopped again.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const directory = options.dataDirectory;
  mkdirSync(path.join(directory, 'logs'), { recursive: true });
  await endLeftovers(directory, options.log);
  const secrets = loadSecrets(directory);
  for (const [name, offset] of Object.entries(PORT_OFFSETS)) await requireFreePort(options.port + offset, name);

  const stops: Array<() => Promise<void>> = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each().catch((error: unknown) => options.log(String(error)));
    rmSync(runningFile(directory), { force: true });
  };
  try {
    const ownerUrl = await startDatabase(options, stops);
    await migrate({ ownerUrl, directory: path.join(ROOT, 'prisma'), passwords: secrets.database, log: options.log });
    await migrateQueue(ownerUrl, 'slipway_app');
    options.log('database ready');
    const plans = planServices(
      {
        port: options.port,
        dataDirectory: directory,
        databaseUrls: {
          app: serviceUrl(ownerUrl, 'app', secrets.database.app),
          runtime: serviceUrl(ownerUrl, 'runtime', secrets.database.runtime),
          gateway: serviceUrl(ownerUrl, 'gateway', secrets.database.gateway),
        },
        redisUrl: options.env['REDIS_URL'] ?? null,
        oidcIssuerUrl: options.env['OIDC_ISSUER_URL'] ?? null,
      },
      secrets,
      options.env,
    ).filter((plan) => !options.without?.includes(plan.name));
    const running = new Map<string, Supervised>();
    const record = (): void =>
      writeFileSync(
        runningFile(directory),
        JSON.stringify(
          { pid: process.pid, url: `http://localhost:${options.port}`, services: [...running.values()].map((service) => service.status()) },
          null,
          2,
        ),
      );
    for (const plan of plans) {
      const service = new Supervised(
        {
          name: plan.name,
          command: [process.execPath, plan.entry],
          env: plan.env,
          cwd: ROOT,
          readyUrl: `http://127.0.0.1:${plan.env['PORT']}${plan.readyPath}`,
          logFile: path.join(directory, 'logs', `${plan.name}.log`),
        },
        (line) => {
          if (line !== '') options.log(line);
          record();
        },
      );
      service.start();
      running.set(plan.name, service);
      stops.push(() => service.stop());
    }
    record();
    await Promise.all(
      [...running].map(async ([name, service]) => {
        await service.ready(READY_TIMEOUT_MS, options.signal);
        options.log(`${name} ready`);
      }),
    );
    return {
      url: `http://localhost:${options.port}`,
      dataDirectory: directory,
      ownerUrl,
      pidOf: (name) => running.get(name)?.status().pid ?? 0,
      stop: async () => {
        await stop();
        await endLeftovers(directory, options.log);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDatabase(options: StackOptions, stops: Array<() => Promise<void>>): Promise<string> {
  const given = options.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return given;
  const server: PostgresServer = await startPostgresServer(path.join(options.dataDirectory, 'postgres'), options.port + PORT_OFFSETS.postgres);
  stops.push(() => server.stop());
  return server.url;
}

/** Says which processes belong to this data directory, for the next start and for curious people. */
export function runningFile(directory: string): string {
  return path.join(directory, 'running.json');
}

export function readRunning(directory: string): { pid: number; services: ReadonlyArray<{ name: string; pid: number }> } | null {
  const file = runningFile(directory);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}
