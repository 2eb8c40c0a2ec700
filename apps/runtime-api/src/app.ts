import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { ProblemFilter } from '@slipway/errors/nest';
import type { SandboxBackend } from '@slipway/sandbox';
import type { PackStore } from '@slipway/sandbox/packs';
import type { Logger } from '@slipway/telemetry';
import {
  Counter,
  createMetrics,
  Gauge,
  Histogram,
  installTelemetry,
  PoolMetrics,
  type Registry,
} from '@slipway/telemetry/http';
import { activeSandbox } from './checkpoints/active-sandbox.queries.js';
import { CheckpointsController } from './checkpoints/checkpoints.controller.js';
import { CheckpointsService } from './checkpoints/checkpoints.service.js';
import { SandboxCheckpoints } from './checkpoints/sandbox-checkpoints.js';
import { Activator } from './claims/activator.js';
import { Claims } from './claims/claims.js';
import { serveWaiting } from './claims/waiting.queries.js';
import { WarmSlots } from './claims/warm-slots.js';
import { type Failpoints, noFailpoints } from './failpoints.js';
import { FleetController } from './fleet/fleet.controller.js';
import { FleetService } from './fleet/fleet.service.js';
import { PACK_STORE, PacksController } from './packs/packs.controller.js';
import { LeadRun } from './pool/lead-run.js';
import { NoteOutbox } from './pool/note-outbox.js';
import { countPools, countSlots, poolProblems } from './pool/pool.queries.js';
import { LOCAL_PACE, type PoolContext, type PoolPace, type PoolSpec } from './pool/pool-context.js';
import { PoolController } from './pool/pool-controller.js';
import type { SessionLimitOptions } from './pool/session-limits.js';
import { countUnkept, oldestUnkept, UNKEPT_BOUNDS, type UnkeptBounds } from './pool/unkept.queries.js';
import { ApiKeyGuard, RUNTIME_API_KEY } from './sessions/api-key.guard.js';
import { EgressEnvironment, type EgressOptions } from './sessions/egress-environment.js';
import { ImagesController, POOLS } from './sessions/images.controller.js';
import { KeptLimit } from './sessions/kept-limit.js';
import { SessionReads } from './sessions/session-reads.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionsService } from './sessions/sessions.service.js';
import { installStartRoute } from './sessions/start.route.js';

export interface RuntimeApiOptions {
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly encryptionKey: string;
  readonly previousEncryptionKey?: string | undefined;
  readonly activationKey: KeyObject;
  readonly backend: SandboxBackend;
  /** The first one is for requests that name no image and no size. */
  readonly pools: readonly [PoolSpec, ...PoolSpec[]];
  /** Of checkpoints. Absent: there are none, and no operation on them. */
  readonly packs?: PackStore;
  /** What is wrong with the place where sandboxes run; `null`: nothing, or when not given. */
  readonly sandboxProblem?: () => string | null;
  /** Why workspaces cannot be kept; `null`: they can, or when not given. */
  readonly storeProblem?: () => string | null;
  /** That of this machine when not given. */
  readonly pace?: PoolPace;
  /** How long sandboxes stay whose workspaces cannot be kept, and how many. `UNKEPT_BOUNDS` when not given. */
  readonly unkept?: UnkeptBounds;
  /** Seven days of age and no idle time when not given. */
  readonly sessionLimits?: SessionLimitOptions;
  /** Address of egress-proxy for sandboxes of classes that reach names; absent: none gets it. */
  readonly egress?: EgressOptions | null;
  readonly orgSandboxLimit: number;
  /** What kept workspaces of one organization may take. Bytes; 0 for no limit, as when not given. */
  readonly workspaceLimitBytes?: number;
  /** Poll interval of the size of saved workspaces. Milliseconds; ten seconds when not given. */
  readonly keptLookMs?: number;
  readonly replicaId: string;
  /**
   * Lifetime of a lease on a ready slot: how long a replica that is gone keeps it from the others. Seconds; 15 when not
   * given.
   */
  readonly leaseSeconds?: number;
  /** Aborted when this process is about to end. */
  readonly stopping?: AbortSignal;
  /** Where metrics answer; nowhere when not given. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
  readonly logger: Logger;
  /** Takes a line for each request. Absent: none is written. */
  readonly access?: Logger;
  readonly failpoints?: Failpoints;
  /** Seconds that this process runs; its own when not given. */
  readonly uptime?: () => number;
}

/** Problem types are paths of the documentation. */
const DOCS_URL = '';
const LEASE_SECONDS = 15;
/** Longest wait for one answer of the database: a caller waits for ours. Milliseconds. */
const QUERY_TIMEOUT_MS = 10_000;
/**
 * Longest a claim may stay bound before the reaper takes its slot back. Milliseconds; more than one request can take.
 */
const ACTIVATION_DEADLINE_MS = 30_000;
/**
 * How often those who wait are served, beside whenever a sandbox becomes ready, and owners are noted on sandboxes.
 * Milliseconds.
 */
const SERVE_MS = 1_000;
const NOTE_MS = 500;
/** Largest body: an environment of 256 KiB with room. Bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
const NO_SESSION_LIMITS: SessionLimitOptions = { idleSeconds: null, maxAgeSeconds: 7 * 86_400 };

export interface RuntimeApi {
  readonly app: NestFastifyApplication;
  /** Begins to keep the pool. */
  readonly pool: PoolController;
  /** Where its metrics are, once it listens. */
  metricsUrl(): string | null;
  /** Sends those who wait for a sandbox away, with their places kept: another replica goes on with them. */
  closeQueue(): void;
  /** Stops answering, leading and its connections, in this order. Sandboxes go on. */
  close(): Promise<void>;
}

/** The whole service, not yet listening, its pool not yet kept. */
export async function createRuntimeApi(options: RuntimeApiOptions): Promise<RuntimeApi> {
  const { logger, backend } = options;
  const db = createPool({
    url: options.databaseUrl,
    max: 20,
    applicationName: `slipway-runtime-api ${options.replicaId}`.slice(0, 63),
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    // The error carries the whole client; its sentence is enough.
    onError: (error) => logger.warn({ reason: error.message }, 'database connection failed'),
  });
  const context: PoolContext = {
    db,
    backend,
    ids: createIds(systemClock),
    logger,
    failpoints: options.failpoints ?? noFailpoints,
    pace: options.pace ?? LOCAL_PACE,
    unkept: options.unkept ?? UNKEPT_BOUNDS,
    pools: options.pools,
  };
  const registry = createMetrics('runtime-api');
  const metrics = {
    claims: new Counter({
      name: 'pool_claim_total',
      help: 'Claims, by result',
      labelNames: ['result'],
      registers: [registry],
    }),
    durations: new Histogram({
      name: 'pool_claim_duration_seconds',
      help: 'Time from the request to an activated sandbox',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 20],
      registers: [registry],
    }),
  };
  new PoolMetrics(registry).watch('sql', db);
  poolGauges(db, registry);
  new Gauge({
    name: 'workspace_store_problem',
    help: '1 while this replica cannot write, read and delete an object in the workspace store',
    registers: [registry],
    collect() {
      this.set((options.storeProblem?.() ?? null) === null ? 0 : 1);
    },
  });
  const leadRun = new LeadRun(db, options.uptime);
  leadRun.expose(registry);
  const notes = new NoteOutbox(context);
  const pool = new PoolController(
    context,
    options.sessionLimits ?? NO_SESSION_LIMITS,
    [
      {
        name: 'serving',
        everyMs: SERVE_MS,
        sooner: { on: 'ready', soonestMs: 0 },
        work: () => Promise.all(options.pools.map(({ poolId }) => serveWaiting(db, poolId))),
      },
      { name: 'noting', everyMs: NOTE_MS, work: (signal) => notes.pass(signal) },
    ],
    leadRun,
  );
  const warmSlots = new WarmSlots(
    context,
    {
      replicaId: options.replicaId,
      leaseSeconds: options.leaseSeconds ?? LEASE_SECONDS,
      deadlineMs: ACTIVATION_DEADLINE_MS,
      defaultCap: options.orgSandboxLimit,
    },
    () => pool.kick(),
  );
  const box = new SecretBox(options.encryptionKey, options.previousEncryptionKey);
  const activator = new Activator(
    context,
    warmSlots,
    box,
    options.activationKey,
    systemClock,
    options.egress ? new EgressEnvironment(options.egress) : null,
  );
  const claims = new Claims(context, warmSlots, pool, activator, metrics);

  const kept = new KeptLimit(context, options.workspaceLimitBytes ?? 0, options.keptLookMs);
  kept.start();
  kept.expose(registry);
  const reads = new SessionReads(context, claims, box, options.activationKey);
  const runtimes = new SessionsService(context, claims, pool, kept, reads);
  const problems = new ProblemFilter(logger, DOCS_URL);

  @Module({
    controllers: [SessionsController, FleetController, ImagesController, PacksController, CheckpointsController],
    providers: [
      { provide: FleetService, useValue: new FleetService(context, options.orgSandboxLimit) },
      { provide: RUNTIME_API_KEY, useValue: options.apiKey },
      { provide: POOLS, useValue: options.pools },
      { provide: PACK_STORE, useValue: options.packs ?? null },
      {
        provide: CheckpointsService,
        useValue: new CheckpointsService(
          (orgId, sessionId) => activeSandbox(db, orgId, sessionId),
          options.packs ?? null,
          new SandboxCheckpoints(options.activationKey),
        ),
      },
      { provide: SessionsService, useValue: runtimes },
      { provide: SessionReads, useValue: reads },
    ],
  })
  class RuntimeApiModule {}

  const adapter = new FastifyAdapter({ bodyLimit: MAX_BODY_BYTES, routerOptions: { maxParamLength: 500 } });
  const telemetry = installTelemetry(adapter.getInstance(), {
    registry,
    metrics: options.metrics,
    logger,
    access: options.access,
    stopping: options.stopping,
    ready: async () => {
      await db.query('SELECT 1');
    },
    notesForAll: true,
    // No reason to send requests elsewhere: warm sandboxes are given out while the cluster is away, and no replica has
    // a better one.
    notes: async () => {
      const problems = (await poolProblems(db)).map(({ poolId, detail }) => [`pool ${poolId}`, detail] as const);
      const away = options.sandboxProblem?.() ?? null;
      const unkept = await oldestUnkept(db);
      const store =
        unkept === null
          ? []
          : [
              [
                'workspaces',
                `${unkept.count} not kept since ${unkept.since.toISOString()}: ${unkept.problem}`,
              ] as const,
            ];
      const led = await leadRun.problem();
      const lead = led === null ? [] : [['lead', led] as const];
      return Object.fromEntries([
        ...(away === null ? [] : [['sandboxes', away] as const]),
        ...lead,
        ...problems,
        ...store,
      ]);
    },
  });
  installStartRoute(adapter.getInstance(), {
    runtimes,
    problems,
    guard: new ApiKeyGuard(options.apiKey),
    bodyLimit: MAX_BODY_BYTES,
  });
  warmSlots.start();
  const app = await NestFactory.create<NestFastifyApplication>(RuntimeApiModule, adapter, {
    logger: false,
    abortOnError: false,
  });
  app.useGlobalFilters(problems);
  return {
    app,
    pool,
    metricsUrl: () => telemetry.metricsUrl(),
    closeQueue: () => warmSlots.closeQueue(),
    close: async () => {
      warmSlots.closeQueue();
      kept.close();
      await app.close();
      await warmSlots.close();
      await pool.close();
      await db.end();
    },
  };
}

/** Read from the rows that all replicas share: any of them may be asked. */
function poolGauges(db: SqlPool, registry: Registry): void {
  const gauge = (
    name: string,
    help: string,
    collect: (set: (poolId: string, value: number) => void) => Promise<void>,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      async collect() {
        await collect((poolId, value) => this.set({ pool: poolId }, value));
      },
    });
  };
  gauge('pool_ready_slots', 'Blank sandboxes that a claim can take now', async (set) => {
    for (const [poolId, { ready }] of await countPools(db)) set(poolId, ready);
  });
  gauge('pool_target_slots', 'Blank sandboxes that the pool should hold', async (set) => {
    for (const [poolId, { target }] of await countPools(db)) set(poolId, target);
  });
  gauge('pool_blank_slots', 'Blank sandboxes that exist or are being made', async (set) => {
    for (const [poolId, { blank }] of await countPools(db)) set(poolId, blank);
  });
  gauge(
    'workspaces_not_kept',
    'Paused or ended sandboxes that stay because their workspaces cannot be kept',
    async (set) => {
      for (const { poolId, unkept } of await countUnkept(db)) set(poolId, unkept);
    },
  );
  gauge(
    'workspaces_lost',
    'Used sandboxes of the last hour that went without their workspaces being kept',
    async (set) => {
      for (const { poolId, lost } of await countUnkept(db)) set(poolId, lost);
    },
  );
  new Gauge({
    name: 'sandboxes',
    help: 'Sandboxes that exist, are being created or are being removed; state is intent, provisioning, ready, bound, active, doomed or releasing',
    labelNames: ['pool', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { poolId, state, count } of await countSlots(db)) this.set({ pool: poolId, state }, count);
    },
  });
  new Gauge({
    name: 'pool_problem',
    help: '1 while sandboxes of the pool fail to start, by reason',
    labelNames: ['pool', 'code'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { poolId, code } of await poolProblems(db)) this.set({ pool: poolId, code }, 1);
    },
  });
}
