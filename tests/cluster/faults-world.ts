import { until } from '@slipway/testing';
import { ClusterPlace, type ClusterPlaceOptions, type Template } from '../../bench/measure/cluster-place.ts';
import { Ledger } from './faults-ledger.ts';
import { Load } from './faults-load.ts';
import { FaultProxy } from './faults-proxy.ts';
import { Replica } from './faults-replica.ts';

export interface FaultWorldOptions extends ClusterPlaceOptions {
  readonly templates: (place: ClusterPlace) => readonly Template[];
  /** Of runtime-api [1]. */
  readonly replicas?: number;
  /** runtime-api reaches the API server through a `FaultProxy` [false]. */
  readonly proxied?: boolean;
}

/** Longest until the pools are full for the first time. Milliseconds. */
const FIRST_FILL_MS = 120_000;

/**
 * A cluster, runtime-api as its processes are, callers that know it by HTTP, and the ledger that says whether what was
 * promised holds.
 */
export class FaultWorld {
  readonly load: Load;
  readonly ledger: Ledger;
  private readonly loads: Load[] = [];
  private turn = 0;

  readonly place: ClusterPlace;
  readonly replicas: readonly Replica[];
  private readonly through: FaultProxy | null;

  private constructor(place: ClusterPlace, replicas: readonly Replica[], through: FaultProxy | null) {
    this.place = place;
    this.replicas = replicas;
    this.through = through;
    this.load = this.newLoad('session');
    this.ledger = new Ledger(place, () => this.loads);
  }

  static async open(options: FaultWorldOptions): Promise<FaultWorld> {
    const place = await ClusterPlace.open(options);
    let through: Awaited<ReturnType<typeof FaultProxy.open>> | null = null;
    const replicas: Replica[] = [];
    try {
      if (options.proxied === true) through = await FaultProxy.open(place.kubeconfig);
      const templates = options.templates(place);
      const environment = place.environment(templates, through?.kubeconfig ?? place.kubeconfig);
      for (let index = 0; index < (options.replicas ?? 1); index += 1)
        replicas.push(await Replica.start(`replica-${index}`, environment));
      const world = new FaultWorld(place, replicas, through?.proxy ?? null);
      for (const { name } of templates.filter((template) => leastOf(template) === 0))
        world.ledger.blocked.add(`${name}-x1`);
      await until(
        'the pools are full',
        async () => (await world.count('ready', 'leased')) >= sum(templates.map(leastOf)),
        FIRST_FILL_MS,
      );
      await world.ledger.settles();
      return world;
    } catch (error) {
      const said = warningsOf(replicas);
      await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
      through?.proxy.close();
      await place.close();
      throw new Error(`the world does not begin; runtime-api said:\n${said}`, { cause: error });
    }
  }

  get proxy(): FaultProxy {
    if (this.through === null) throw new Error('there is no proxy');
    return this.through;
  }

  get replica(): Replica {
    return this.replicas[0] as Replica;
  }

  /** Callers of their own, whose requests go to the replicas in turn. */
  newLoad(prefix: string): Load {
    const address = (): string => {
      this.turn += 1;
      return (this.replicas[this.turn % this.replicas.length] as Replica).url;
    };
    return this.adopt(new Load(address, this.place.apiKey, prefix));
  }

  /** The ledger checks what these callers were promised, too. */
  adopt(load: Load): Load {
    this.loads.push(load);
    return load;
  }

  /**
   * After each fault: 0 double allocations, 0 orphans either way, no tenant's data elsewhere; the pools full again.
   * @returns seconds until it was so.
   */
  async settles(): Promise<number> {
    try {
      return await this.ledger.settles();
    } catch (error) {
      throw new Error(
        `${error instanceof Error ? error.message : error}\nruntime-api said:\n${warningsOf(this.replicas)}`,
        { cause: error },
      );
    }
  }

  /** The replica that keeps the pools. */
  async leader(): Promise<Replica> {
    return until(
      'somebody leads',
      async () => {
        const { rows } = await this.place.owner.query<{ name: string }>(
          `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() AND a.application_name LIKE 'slipway-runtime-api %'`,
        );
        return this.replicas.find((replica) => rows.some(({ name }) => name.endsWith(` ${replica.name}-lead`)));
      },
      30_000,
    );
  }

  /** How many slots are in these states. */
  async count(...states: string[]): Promise<number> {
    const { rows } = await this.place.owner.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM runtime.slot WHERE state = ANY ($1)',
      [states],
    );
    return rows[0]?.n ?? 0;
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end('SIGKILL')));
    this.through?.close();
    await this.place.close();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
/** What can come up of a template's base size. */
const leastOf = ({ pools, nodeSelector }: Template): number => ('nowhere' in nodeSelector ? 0 : pools[1].min);
const warningsOf = (replicas: readonly Replica[]): string =>
  replicas
    .flatMap(({ said }) => said.split('\n').filter((line) => line !== '' && !line.includes('"severity":"INFO"')))
    .join('\n')
    .slice(-6_000);
