import { randomUUID } from 'node:crypto';
import { SessionCookie } from '@slipway/auth';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { type ConversationEvent, IngestAck } from '@slipway/contracts/events';
import { migrateQueue } from '@slipway/queue/migrate';
import { createTestDatabase, freePort } from '@slipway/testing';
import pg from 'pg';
import { type Dispatcher, Pool } from 'undici';
import { type ServiceProcess, startService } from './service-process.ts';

const SECRET = 'bench-secret-bench-secret-bench-secret';

/** app-server's processes on one database, one signed-in user, and conversations whose sandbox is this bench. */
export interface AppServers {
  readonly ownerUrl: string;
  readonly replicas: readonly ServiceProcess[];
  readonly cookie: string;
  readonly orgId: string;
  /**
   * One more process on the same database, not among `replicas`; the caller stops it. `entry` is a file to start in
   * place of the built one.
   */
  another(more?: Readonly<Record<string, string>>, entry?: string): Promise<ServiceProcess>;
  /** A conversation whose sandbox may write: started, epoch 1. Its batches go to `server` [the first replica]. */
  conversation(server?: ServiceProcess): Promise<Producer>;
  stop(): Promise<void>;
}

/** The sandbox of one conversation: hands in batches over one connection, one after the other. */
export interface Producer {
  readonly id: string;
  /** @throws Error when the batch is not acknowledged whole. */
  send(events: readonly ConversationEvent[]): Promise<void>;
}

/** @param more variables of the servers beside those that they need. */
export async function startAppServers(
  replicaCount = 1,
  more: Readonly<Record<string, string>> = {},
): Promise<AppServers> {
  const database = await createTestDatabase({
    extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
  });
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const replicas: ServiceProcess[] = [];
  const pools: Dispatcher[] = [];
  const orgId = 'org_bench';
  const stop = async (): Promise<void> => {
    for (const pool of pools) await pool.close();
    for (const replica of replicas) await replica.stop();
    await owner.end();
    await database.close();
  };
  try {
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    const env = {
      NODE_ENV: 'production',
      PUBLIC_URL: publicUrl,
      DATABASE_URL: database.urls.app,
      OIDC_ISSUER_URL: 'http://127.0.0.1:9/realms/none',
      OIDC_CLIENT_SECRET: 'none',
      SESSION_SECRET: SECRET,
      ENCRYPTION_KEY: SECRET,
      INGEST_SECRET: SECRET,
      LLM_GATEWAY_URL: 'http://127.0.0.1:9',
      LLM_GATEWAY_MASTER_KEY: SECRET,
      ...more,
    };
    // A client that is no page sends no Origin, so it does not matter that each replica has a port of its own.
    for (let index = 0; index < replicaCount; index += 1) replicas.push(await startService('app-server', env));
    const expires = new Date(Date.now() + 86_400_000);
    await owner.query(
      `INSERT INTO app.user_account (id, issuer, subject, name) VALUES ('usr_bench', 'bench', 'bench', 'Bench')`,
    );
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'bench', 'Bench', 'personal')`, [orgId]);
    await owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, 'usr_bench', 'owner')`, [orgId]);
    await owner.query(
      `INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) VALUES ('ses_bench', 'usr_bench', '', $1, $1)`,
      [expires],
    );
    return {
      ownerUrl: database.ownerUrl,
      replicas,
      orgId,
      cookie: `keycloak_auth=${await new SessionCookie(SECRET).sign('ses_bench', expires)}`,
      another: (own = {}, entry) =>
        startService('app-server', { ...env, ...own }, entry === undefined ? {} : { entry }),
      conversation: async (server = replicas[0] as ServiceProcess) => {
        const id = randomUUID();
        await owner.query(
          `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, epoch, attempt, status, start_status, sandbox_status, status_state)
           VALUES ($1, $2, 'usr_bench', 'Bench', 'bench', 'none', 1, 1, 'waiting', 'READY', 'RUNNING', '{"execution":"idle","start":"ready","halt":"none"}')`,
          [id, orgId],
        );
        const authorization = `Bearer ${await new IngestTokens(SECRET).sign({ org: orgId, conversation: id, epoch: 1 }, 3_600)}`;
        const pool = new Pool(server.url, { connections: 1 });
        pools.push(pool);
        let sent = 0;
        return {
          id,
          send: async (events) => {
            const body = JSON.stringify({
              epoch: 1,
              events: events.map((event, index) => ({ producerSeq: sent + index + 1, event })),
            });
            const response = await pool.request({
              method: 'POST',
              path: `/ingest/v1/conversations/${id}/events`,
              headers: { 'content-type': 'application/json', authorization },
              body,
            });
            const answer: unknown = await response.body.json();
            sent += events.length;
            if (response.statusCode !== 200 || IngestAck.parse(answer).ackedProducerSeq !== sent)
              throw new Error(`ingest answered ${response.statusCode} ${JSON.stringify(answer)}`);
          },
        };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** An ordinary event of about 600 bytes. Its text begins with `mark`. */
export function observation(mark: string): ConversationEvent {
  const id = randomUUID();
  return {
    id,
    kind: 'ObservationEvent',
    timestamp: new Date().toISOString(),
    source: 'environment',
    action_id: id,
    tool_name: 'terminal',
    tool_call_id: `call_${id}`,
    observation: {
      kind: 'TerminalObservation',
      content: [{ type: 'text', text: `${mark} ${'all tests passed; '.repeat(15)}` }],
      is_error: false,
      exit_code: 0,
    },
  };
}
