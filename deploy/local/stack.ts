import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { migrate, serviceUrl } from '@slipway/db/migrate';
import { migrateQueue } from '@slipway/queue/migrate';
import { endLeftovers, endSandboxes } from './leftovers.ts';
import { sandboxPlace } from './sandbox-place.ts';
import { planServices } from './services.ts';
import { type LocalService, loadSecrets, METRICS_OFFSET, PORT_OFFSETS, ROOT, requireFreePort } from './settings.ts';
import { SupervisedPostgres } from './supervised-postgres.ts';
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
  /** Variables of single services in place of those that are planned, for a test that stands between them. */
  readonly serviceEnv?: Partial<Record<LocalService, Readonly<Record<string, string>>>>;
  /** Files that are started in place of the built programs, for a test of bundles. */
  readonly entries?: Partial<Record<LocalService, string>>;
}

export interface Stack {
  readonly url: string;
  readonly dataDirectory: string;
  /** The owner of the database: for looking into it, never for a service. */
  readonly ownerUrl: string;
  /** Where its sandboxes run, in words. */
  readonly sandboxes: string;
  /** The running process of a service, as of now: it changes when the service was started again. */
  pidOf(service: string): number;
  stop(): Promise<void>;
}

/**
 * Longest that a service may take from its start to being ready. Milliseconds; the slowest is Next on a busy machine.
 */
const READY_TIMEOUT_MS = 60_000;

/**
 * Starts the whole of Slipway on this machine: Postgres (unless DATABASE_URL names one), migrations, identity, every
 * service, all on loopback.
 * @throws Error with one sentence that says what is in the way; what had been started is stopped again.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const directory = options.dataDirectory;
  // Before anything is started that would have to be stopped again.
  const { said } = sandboxPlace(options.env, directory);
  mkdirSync(path.join(directory, 'logs'), { recursive: true });
  await endLeftovers(directory, options.log);
  const secrets = loadSecrets(directory);
  for (const [name, offset] of Object.entries(PORT_OFFSETS)) {
    await requireFreePort(options.port + offset, name);
    if (name !== 'postgres') await requireFreePort(options.port + METRICS_OFFSET + offset, `${name}'s metrics`);
  }

  const running = new Map<string, Supervised>();
  let database: Database | undefined;
  const stop = async (): Promise<void> => {
    const end = (names: readonly LocalService[]): Promise<unknown> =>
      Promise.all(names.map((name) => running.get(name)?.stop()));
    // First those that would heal what ends after them; the sandboxes while app-server still takes their last events;
    // the database last.
    await end(['web', 'sandbox-gateway', 'worker', 'runtime-api']);
    await endSandboxes(directory);
    await end(['app-server', 'llm-gateway', 'embedded-identity']);
    await database?.stop();
    rmSync(runningFile(directory), { force: true });
  };
  try {
    database = await startDatabase(options);
    const ownerUrl = database.url;
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
          sandbox: serviceUrl(ownerUrl, 'sandbox', secrets.database.sandbox),
        },
        redisUrl: options.env['REDIS_URL'] ?? null,
        oidcIssuerUrl: options.env['OIDC_ISSUER_URL'] ?? null,
      },
      secrets,
      options.env,
    ).filter((plan) => !options.without?.includes(plan.name));
    const record = (): void =>
      writeFileSync(
        runningFile(directory),
        JSON.stringify(
          {
            pid: process.pid,
            url: `http://localhost:${options.port}`,
            services: [...running.values()].map((service) => service.status()),
          },
          null,
          2,
        ),
      );
    for (const plan of plans) {
      const service = new Supervised(
        {
          name: plan.name,
          command: [process.execPath, options.entries?.[plan.name] ?? plan.entry],
          env: { ...plan.env, ...options.serviceEnv?.[plan.name] },
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
      sandboxes: said,
      pidOf: (name) => (name === 'postgres' ? database?.pid() : running.get(name)?.status().pid) ?? 0,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Database {
  readonly url: string;
  /** 0: not ours. */
  pid(): number;
  stop(): Promise<void>;
}

/** The one that DATABASE_URL names, which is not ours to stop, or the embedded one, which is kept running. */
async function startDatabase(options: StackOptions): Promise<Database> {
  const given = options.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, pid: () => 0, stop: async () => {} };
  const postgres = await SupervisedPostgres.start(
    path.join(options.dataDirectory, 'postgres'),
    options.port + PORT_OFFSETS.postgres,
    options.log,
  );
  return { url: postgres.url, pid: () => postgres.status().pid, stop: () => postgres.stop() };
}

/** Says which processes belong to this data directory, for the next start and for curious people. */
export function runningFile(directory: string): string {
  return path.join(directory, 'running.json');
}
