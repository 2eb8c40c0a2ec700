import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
import { migrate, serviceUrl } from '@slipway/db/migrate';
import { migrateQueue } from '@slipway/queue/migrate';
import { signIn, until } from '@slipway/testing';
import pg from 'pg';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { endSandboxes } from '../../deploy/local/leftovers.ts';
import { planServices, type ServicePlan, type StackAddresses } from '../../deploy/local/services.ts';
import { type LocalService, loadSecrets, PORT_OFFSETS, ROOT, type Secrets } from '../../deploy/local/settings.ts';
import { Balancer } from './balancer.ts';
import { DatabasePair, POSTGRES_FLAGS } from './database-pair.ts';
import { type Exit, Replica } from './replica.ts';

/**
 * What an operator rolls. embedded-identity has one replica, as on a developer's machine: elsewhere the issuer is not
 * ours.
 */
export const DEPLOYMENTS = ['app-server', 'llm-gateway', 'runtime-api', 'sandbox-gateway', 'web', 'worker'] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];
/** Exit code of a replica after a clean stop. Next's server says by which signal. */
export const cleanExitOf = (name: Deployment): number => (name === 'web' ? 143 : 0);

/** What replicas are started from, and what brings the schemas to what they need. */
export interface FleetVersion {
  /** Its checkout, built. */
  readonly root: string;
  readonly planServices: typeof planServices;
  readonly migrate: typeof migrate;
  readonly migrateQueue: typeof migrateQueue;
  /** As its clients do, who know no answers of a later one. */
  readonly signIn: typeof signIn;
}

export const THIS_VERSION: FleetVersion = { root: ROOT, planServices, migrate, migrateQueue, signIn };

export interface FleetOptions {
  readonly folder: string;
  /** What it begins as [this one]. */
  readonly version?: FleetVersion;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly drainSeconds: number;
  readonly redisUrl?: string | undefined;
  /** Postgres is two servers: a primary that answers when both have it, and a streaming standby. */
  readonly standby?: boolean;
}

const REPLICAS = 2;

/** Two replicas of every deployment, each deployment behind a balancer on the port where the others expect it. */
export class Fleet {
  readonly url: string;
  readonly ownerUrl: string;
  /** The address of a pair of servers. */
  private readonly database: Balancer | null;
  readonly directory: string;
  private readonly options: FleetOptions;
  private readonly addresses: StackAddresses;
  private readonly secrets: Secrets;
  private plans: ReadonlyMap<LocalService, ServicePlan>;
  private readonly balancers: ReadonlyMap<LocalService, Balancer>;
  private readonly replicas = new Map<LocalService, Replica[]>();
  private readonly postgres: PostgresServer;
  private started = 0;

  private constructor(
    parts: Pick<Fleet, 'url' | 'ownerUrl' | 'directory'> & {
      database: Fleet['database'];
      options: FleetOptions;
      addresses: StackAddresses;
      secrets: Secrets;
      plans: ServicePlan[];
      balancers: Map<LocalService, Balancer>;
      postgres: PostgresServer;
    },
  ) {
    this.url = parts.url;
    this.ownerUrl = parts.ownerUrl;
    this.database = parts.database;
    this.directory = parts.directory;
    this.options = parts.options;
    this.addresses = parts.addresses;
    this.secrets = parts.secrets;
    this.plans = byName(parts.plans);
    this.balancers = parts.balancers;
    this.postgres = parts.postgres;
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    const directory = path.join(options.folder, 'data');
    mkdirSync(path.join(directory, 'logs'), { recursive: true });
    const secrets = loadSecrets(directory);
    const port = await freePortRange();
    const databasePort = port + PORT_OFFSETS.postgres;
    const standby = options.standby === true;
    const postgres = standby
      ? await DatabasePair.start(directory)
      : await startPostgresServer(path.join(directory, 'postgres'), databasePort, POSTGRES_FLAGS);
    // Only a pair has an address of its own: every byte through it is one through the process that measures.
    const database = standby ? await Balancer.open(databasePort, null) : null;
    database?.add(portOf(postgres));
    const owner = new URL(postgres.url);
    owner.port = String(databasePort);
    const ownerUrl = owner.href;
    const passwords = secrets.database;
    const version = options.version ?? THIS_VERSION;
    await version.migrate({ ownerUrl, directory: path.join(version.root, 'prisma'), passwords, log: () => {} });
    await version.migrateQueue(ownerUrl, 'slipway_app');
    const databaseUrls = {
      app: serviceUrl(ownerUrl, 'app', passwords.app),
      runtime: serviceUrl(ownerUrl, 'runtime', passwords.runtime),
      gateway: serviceUrl(ownerUrl, 'gateway', passwords.gateway),
      sandbox: serviceUrl(ownerUrl, 'sandbox', passwords.sandbox),
    };
    const addresses = {
      port,
      dataDirectory: directory,
      databaseUrls,
      redisUrl: options.redisUrl ?? null,
      oidcIssuerUrl: null,
    };
    const plans = version.planServices(addresses, secrets, options.env);
    for (const { name, entry } of plans)
      if (!existsSync(entry)) throw new Error(`${name} is not built: npm run build (${entry} is missing)`);
    const balancers = new Map<LocalService, Balancer>();
    for (const { name, readyPath } of plans)
      balancers.set(name, await Balancer.open(port + PORT_OFFSETS[name], readyPath));
    const fleet = new Fleet({
      url: `http://localhost:${port}`,
      ownerUrl,
      database,
      directory,
      options,
      addresses,
      secrets,
      plans,
      balancers,
      postgres,
    });
    try {
      await fleet.start('embedded-identity');
      // One deployment after another: all at once take each other's processor, and longer for it.
      for (const name of DEPLOYMENTS) await Promise.all(Array.from({ length: REPLICAS }, () => fleet.start(name)));
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  /** The processes of a deployment. */
  of(name: LocalService): readonly Replica[] {
    return this.replicas.get(name) ?? [];
  }

  /** One more replica, which gets connections when this has answered. */
  async start(name: LocalService): Promise<Replica> {
    const plan = this.plans.get(name);
    if (plan === undefined) throw new Error(`there is no plan for ${name}`);
    this.started += 1;
    const env = { DRAIN_SECONDS: String(this.options.drainSeconds), LOG_LEVEL: 'info' };
    const replica = await Replica.start(plan, `${name}-${this.started}`, path.join(this.directory, 'logs'), env);
    this.replicas.set(name, [...this.of(name), replica]);
    const balancer = this.balancers.get(name);
    balancer?.add(replica.port);
    await replica.ready();
    await until(`${replica.name} gets connections`, () => balancer?.isReady(replica.port) === true);
    return replica;
  }

  /** Ends one replica. The balancer finds out by itself, as long as the process answers its probes. */
  async end(name: LocalService, replica: Replica, signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit> {
    if (name === 'web' && signal === 'SIGTERM') {
      // Next's server ends at once, so the chart has a pause before the signal: the pod gets no new connections then,
      // and answers on those that it has.
      this.balancers.get(name)?.remove(replica.port);
      await wait(this.options.drainSeconds * 1_000);
    }
    const exit = await replica.end(signal);
    this.balancers.get(name)?.remove(replica.port);
    this.replicas.set(
      name,
      this.of(name).filter((other) => other !== replica),
    );
    return exit;
  }

  /**
   * As a Deployment rolls with maxSurge 1 and maxUnavailable 0: a new replica, then one of the old ones goes, the
   * eldest first. @param count of them [all].
   */
  async roll(name: Deployment, count = this.of(name).length): Promise<Exit[]> {
    const exits: Exit[] = [];
    for (const old of this.of(name).slice(0, count)) {
      await this.start(name);
      exits.push(await this.end(name, old, 'SIGTERM'));
    }
    return exits;
  }

  /** Brings the schemas to what a `prisma/` folder holds, while everything runs. @returns what was applied. */
  async migrate(directory = path.join(ROOT, 'prisma'), version = THIS_VERSION): Promise<string[]> {
    const { applied } = await version.migrate({
      ownerUrl: this.ownerUrl,
      directory,
      passwords: this.secrets.database,
      log: () => {},
    });
    await version.migrateQueue(this.ownerUrl, 'slipway_app');
    return applied;
  }

  /** Replicas that are started from now on are of this version; those that run stay what they are. */
  become(version: FleetVersion): void {
    this.plans = byName(version.planServices(this.addresses, this.secrets, this.options.env));
  }

  /** Queries the database as its owner. */
  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.ownerUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** The primary is killed, the standby promoted, and connections go there from then on. */
  async failOver(): Promise<void> {
    const { postgres, database } = this;
    if (database === null || !(postgres instanceof DatabasePair))
      throw new Error('the fleet was opened without a standby');
    database.remove(portOf(postgres));
    await postgres.failOver();
    database.cut();
    database.add(portOf(postgres));
  }

  async close(): Promise<void> {
    const end = (names: readonly LocalService[]): Promise<unknown> =>
      Promise.all(names.flatMap((name) => this.of(name).map((replica) => replica.end('SIGKILL'))));
    // First those that would heal what ends after them.
    await end(['web', 'sandbox-gateway', 'worker', 'runtime-api']);
    await endSandboxes(this.directory);
    await end(['app-server', 'llm-gateway', 'embedded-identity']);
    await this.postgres.stop();
    for (const balancer of [...this.balancers.values(), ...(this.database === null ? [] : [this.database])])
      await balancer.close();
  }
}

function byName(plans: readonly ServicePlan[]): ReadonlyMap<LocalService, ServicePlan> {
  return new Map(plans.map((plan) => [plan.name, plan]));
}

function portOf(server: PostgresServer): number {
  return Number(new URL(server.url).port);
}
