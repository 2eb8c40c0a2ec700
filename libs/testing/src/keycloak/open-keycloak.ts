import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@slipway/db/embedded';
import { createTestDatabase, type TestDatabase } from '../test-database.js';
import { until } from '../until.js';
import { type BuiltKeycloak, buildKeycloak } from './built-keycloak.js';
import { KeycloakAdmin } from './keycloak-admin.js';

export interface OpenKeycloakOptions {
  /** What is imported: a realm's representation, with its name in `realm`. */
  readonly realm: Readonly<Record<string, unknown>> & { readonly realm: string };
  /** Given when other addresses of the realm hold it; a free one by default. */
  readonly port?: number;
  /**
   * Where browsers and apps find it, behind a TLS proxy that sets X-Forwarded-* [itself, at localhost]. Without a path.
   */
  readonly publicUrl?: string;
  /** A folder of themes, a folder each. */
  readonly themes?: string;
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Longest time until it answers. Milliseconds: 12 s alone on two cores, much more beside others. */
const START_MS = 240_000;
/** How long it may take to end by itself. Milliseconds. */
const STOP_MS = 20_000;
/**
 * Compiled quickly rather than well: it runs for a minute. An empty database then costs 2 s more than a full one, so
 * none is kept for next time.
 */
const JVM = [
  '-Xms64m',
  '-Xmx512m',
  '-XX:MaxMetaspaceSize=256m',
  '-XX:ActiveProcessorCount=2',
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-XX:+ExitOnOutOfMemoryError',
  '-Dfile.encoding=UTF-8',
  '-Duser.language=en',
  '-Duser.country=US',
  '-Djava.util.logging.manager=org.jboss.logmanager.LogManager',
  '-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory',
  '-Dpicocli.disable.closures=true',
  '--add-opens=java.base/java.util=ALL-UNNAMED',
  '--add-opens=java.base/java.util.concurrent=ALL-UNNAMED',
  '--add-opens=java.base/java.security=ALL-UNNAMED',
  '--add-opens=java.base/java.lang=ALL-UNNAMED',
  '--enable-native-access=ALL-UNNAMED',
];

/** A real Keycloak as a process of its own, in its production shape, with a database and a port of its own. */
export class Keycloak {
  private child: ChildProcess | undefined;
  private output = '';

  private constructor(
    private readonly built: BuiltKeycloak,
    private readonly database: TestDatabase,
    private readonly home: string,
    private readonly ports: { readonly http: number; readonly management: number },
    private readonly password: string,
    private readonly publicUrl: string | undefined,
    /**
     * `…/realms/<name>`; without a `publicUrl` another host name than an app's at 127.0.0.1, so that their cookies stay
     * apart.
     */
    readonly issuerUrl: string,
    readonly admin: KeycloakAdmin,
  ) {}

  static async open({
    realm,
    port,
    publicUrl,
    themes,
    say = () => {},
    signal,
  }: OpenKeycloakOptions): Promise<Keycloak> {
    const built = await buildKeycloak(say, signal);
    const database = await createTestDatabase();
    const home = await mkdtemp(path.join(os.tmpdir(), 'slipway-keycloak-'));
    const ports = { http: port ?? (await freePort()), management: await freePort() };
    const password = randomBytes(16).toString('hex');
    const url = `http://localhost:${ports.http}`;
    const admin = new KeycloakAdmin(url, realm.realm, password);
    const keycloak = new Keycloak(
      built,
      database,
      home,
      ports,
      password,
      publicUrl,
      `${publicUrl ?? url}/realms/${realm.realm}`,
      admin,
    );
    try {
      await keycloak.layOut(realm, themes ?? path.join(built.folder, 'themes'));
      await keycloak.start();
      return keycloak;
    } catch (error) {
      await keycloak.close();
      throw error;
    }
  }

  /** Where it listens, at 127.0.0.1. */
  get port(): number {
    return this.ports.http;
  }

  /** What it printed since it was opened, the last 200,000 characters. */
  log(): string {
    return this.output;
  }

  /** Starts it, and waits until it serves. After `kill` or `stop`: the same again, on the same data and port. */
  async start(): Promise<void> {
    const { java } = this.built;
    const options = [...JVM, `-Dkc.home.dir=${this.home}`, `-Djboss.server.config.dir=${path.join(this.home, 'conf')}`];
    const program = [
      '-cp',
      path.join(this.built.folder, 'lib/quarkus-run.jar'),
      'io.quarkus.bootstrap.runner.QuarkusEntryPoint',
    ];
    const child = spawn(path.join(java.home, 'bin/java'), [...options, ...program, ...this.arguments()], {
      cwd: this.home,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...this.environment() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const endWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', endWithUs);
    child.once('exit', () => process.off('exit', endWithUs));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-200_000);
      });
    const ready = async (): Promise<boolean> =>
      (await fetch(`http://localhost:${this.ports.management}/health/ready`, { signal: AbortSignal.timeout(5_000) }))
        .ok;
    const started = until('Keycloak is ready', () => (ended(child) ? true : ready()), START_MS);
    await started;
    if (ended(child)) throw new Error(`Keycloak ended: ${this.output.slice(-4_000)}`);
  }

  /** `SIGKILL`. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** As an operator stops it; killed when that takes too long. */
  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  /** Kills it and removes all that it had. */
  async close(): Promise<void> {
    await this.kill();
    await this.database.close();
    await rm(this.home, { recursive: true, force: true });
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.child;
    if (child === undefined || ended(child)) return;
    const over = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await over;
    clearTimeout(late);
  }

  /** A home of its own for what it writes; the program itself is shared. */
  private async layOut(realm: OpenKeycloakOptions['realm'], themes: string): Promise<void> {
    for (const name of ['lib', 'providers'])
      await symlink(path.join(this.built.folder, name), path.join(this.home, name));
    await symlink(themes, path.join(this.home, 'themes'));
    await cp(path.join(this.built.folder, 'conf'), path.join(this.home, 'conf'), { recursive: true });
    await mkdir(path.join(this.home, 'data/import'), { recursive: true });
    await writeFile(path.join(this.home, 'data/import', `${realm.realm}-realm.json`), JSON.stringify(realm), {
      mode: 0o600,
    });
  }

  private arguments(): string[] {
    return [
      'start',
      '--optimized',
      '--import-realm',
      '--http-enabled=true',
      '--http-host=127.0.0.1',
      `--http-port=${this.ports.http}`,
      `--http-management-port=${this.ports.management}`,
      `--hostname=${this.publicUrl ?? `http://localhost:${this.ports.http}`}`,
      ...(this.publicUrl === undefined ? [] : ['--proxy-headers=xforwarded']),
      '--cache=local',
    ];
  }

  private environment(): Record<string, string> {
    const { hostname, port, pathname, username, password } = new URL(this.database.ownerUrl);
    return {
      KC_DB_URL: `jdbc:postgresql://${hostname}:${port === '' ? '5432' : port}${pathname}`,
      KC_DB_USERNAME: decodeURIComponent(username),
      KC_DB_PASSWORD: decodeURIComponent(password),
      KC_DB_POOL_MAX_SIZE: '10',
      KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
      KC_BOOTSTRAP_ADMIN_PASSWORD: this.password,
    };
  }
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
