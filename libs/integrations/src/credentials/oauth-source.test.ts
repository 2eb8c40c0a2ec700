import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { ConnectionSettings } from '@slipway/contracts/integrations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { ProviderClient } from '../calls/provider-client.js';
import { PROVIDERS } from '../providers/index.js';
import {
  ConnectionCredentials,
  type Credential,
  freshDispatch,
  insertTokens,
  OAuthSource,
  OAuthTokens,
  RENEWAL_REFUSED,
  renewAtOf,
  revokeTokens,
} from './index.js';

const SECRET = randomBytes(32).toString('base64');
const ORG = 'org_tokens';
const START = Date.parse('2026-11-25T10:00:00Z');
const LIFE_S = 7_200;
/** Longer than a claim. Milliseconds. */
const CLAIM_OVER_MS = 61_000;
/** Longer than any wait between two attempts. Milliseconds. */
const RETRY_OVER_MS = 31 * 60_000;
const APP = { clientId: 'the-client', clientSecret: 'the-secret-of-the-client' };

type Fate = 'well' | 'lost' | 'broken' | Promise<void>;

/** GitLab's side: a refresh token is worth one pair, and its use ends the pair before. */
class TokenServer {
  fates: Fate[] = [];
  calls = 0;
  atOnce = 0;
  mostAtOnce = 0;
  present = { access: '', refresh: '' };
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      const json = (status: number, body: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.url !== '/oauth/token')
        return json(request.headers.authorization === `Bearer ${this.present.access}` ? 200 : 401, {});
      const form = new URLSearchParams(await text(request));
      this.calls += 1;
      this.atOnce += 1;
      this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
      const fate = this.fates.shift() ?? 'well';
      if (typeof fate !== 'string') await fate;
      this.atOnce -= 1;
      if (fate === 'broken') return json(503, {});
      if (form.get('client_id') !== APP.clientId || form.get('client_secret') !== APP.clientSecret)
        return json(401, { error: 'invalid_client' });
      if (form.get('refresh_token') !== this.present.refresh) return json(400, { error: 'invalid_grant' });
      this.issue();
      if (fate === 'lost') return void request.socket.destroy();
      json(200, {
        access_token: this.present.access,
        refresh_token: this.present.refresh,
        expires_in: LIFE_S,
        token_type: 'Bearer',
        scope: 'api',
      });
    });
  }

  issue(): void {
    this.present = { access: `at-${randomUUID()}`, refresh: `rt-${randomUUID()}` };
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

jest.setTimeout(240_000);

describe('tokens of a connection that was authorized by OAuth', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  let host: string;
  let now = START;
  const provider = new TokenServer();
  const pools: SqlPool[] = [];
  let said: string[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
    host = await provider.start();
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'tokens', 'Tokens', 'personal')`, [ORG]);
  });
  afterAll(async () => {
    provider.close();
    await Promise.all(pools.map((pool) => pool.end()));
    await owner?.end();
    await database?.close();
  });
  beforeEach(() => {
    now = START;
    [provider.fates, provider.calls, provider.mostAtOnce, said] = [[], 0, 0, []];
  });

  /** One process: a pool, an envelope and a source of its own. */
  interface Process {
    readonly pool: SqlPool;
    readonly source: OAuthSource;
    readonly credentials: ConnectionCredentials;
  }
  const processes: Process[] = [];
  const process = (index: number, ids: () => string = randomUUID): Process => {
    const pool =
      processes[index]?.pool ??
      createPool({ url: database.urls.app, max: 6, applicationName: `test-${index}`, onError: () => {} });
    if (processes[index] === undefined) pools.push(pool);
    const envelope = new Envelope(pool, new SecretBox(SECRET), systemClock);
    const clock = { now: () => new Date(now) };
    const source = new OAuthSource({
      pool,
      envelope,
      providers: new Map(Object.entries(PROVIDERS)),
      connect: (baseUrl, authorization) =>
        new ProviderClient({ baseUrl, authorization, dispatch: fetch, now: clock.now }),
      clock,
      ids: { uuid: ids, prefixed: ids },
      say: (fields, message) => said.push(`${message} ${JSON.stringify(fields)}`),
    });
    const made = { pool, source, credentials: new ConnectionCredentials(pool, envelope, [source]) };
    processes[index] ??= made;
    return made;
  };

  const connectionOf = (id: string) => ({
    ...{ id, provider: 'gitlab', host, account: null },
    settings: ConnectionSettings.parse({ baseUrl: `http://${host}` }),
  });
  const connect = async (): Promise<ReturnType<typeof connectionOf>> => {
    const connection = connectionOf(randomUUID());
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, state, created_by, created_by_label)
       VALUES ($1, $2, 'gitlab', 'oauth', 'n', $3, 'signed', '{"ids":[],"mention":"slipway"}', $4, 'active', 'u', 'u')`,
      [connection.id, ORG, host, JSON.stringify(connection.settings)],
    );
    provider.issue();
    const tokens = OAuthTokens.parse({
      ...APP,
      ...{ accessToken: provider.present.access, refreshToken: provider.present.refresh },
      ...{ issuedAt: new Date(now).toISOString(), expiresAt: new Date(now + LIFE_S * 1_000).toISOString() },
    });
    const place = { id: randomUUID(), connectionId: connection.id, kind: 'oauth-tokens' };
    const { pool } = process(0);
    const sealed = await new Envelope(pool, new SecretBox(SECRET), systemClock).seal(
      ORG,
      JSON.stringify(tokens),
      integrationSecretContext(place),
    );
    const row = {
      id: place.id,
      ...sealed,
      expiresAt: new Date(now + LIFE_S * 1_000),
      renewAt: renewAtOf(tokens),
      scopes: ['api'],
    };
    await inOrg(pool, ORG, (client) => insertTokens(client, ORG, connection.id, row));
    return connection;
  };
  const ask = (of: Process, connection: ReturnType<typeof connectionOf>, need = {}): Promise<Credential | null> =>
    of.credentials.credential(ORG, connection, need);
  const stateOf = async ({ id }: { id: string }): Promise<readonly [string, string | null]> => {
    const { rows } = await owner.query<{ state: string; reason: string | null }>(
      'SELECT state, state_reason AS reason FROM app.integration_connection WHERE id = $1',
      [id],
    );
    return [rows[0]?.state ?? '', rows[0]?.reason ?? null];
  };
  const storedOf = async ({ id }: { id: string }): Promise<OAuthTokens> => {
    const { rows } = await owner.query<{ id: string; bytes: Buffer; keyVersion: number }>(
      `SELECT id, sealed AS bytes, key_version AS "keyVersion" FROM app.integration_secret WHERE connection_id = $1`,
      [id],
    );
    const [row] = rows as [(typeof rows)[number]];
    const context = integrationSecretContext({ id: row.id, connectionId: id, kind: 'oauth-tokens' });
    return OAuthTokens.parse(
      JSON.parse(await new Envelope(process(0).pool, new SecretBox(SECRET), systemClock).open(ORG, row, context)),
    );
  };
  const revocations = async ({ id }: { id: string }): Promise<number> =>
    (
      await owner.query(
        `SELECT 1 FROM app.credential_revocation r JOIN app.outbox o ON o.key = r.id AND o.queue = 'credential-revocation' WHERE connection_id = $1`,
        [id],
      )
    ).rowCount ?? 0;

  it('are used as they are until shortly before their end, and then renewed by one call for all callers of two processes', async () => {
    const connection = await connect();
    const two = [process(0), process(1)];
    const first = await ask(two[0] as Process, connection);
    expect([first?.token, provider.calls]).toEqual([provider.present.access, 0]);
    now += (LIFE_S - 60) * 1_000;
    const old = first?.token;
    const release = Promise.withResolvers<void>();
    provider.fates = [release.promise];
    const callers = Array.from({ length: 24 }, (_, index) => ask(two[index % 2] as Process, connection));
    await until('the one call is made', () => provider.calls === 1);
    release.resolve();
    const tokens = new Set((await Promise.all(callers)).map((each) => each?.token));
    // Those that did not renew may still get the one that is valid for another minute.
    expect([...tokens].filter((token) => token !== old)).toEqual([provider.present.access]);
    expect((await ask(two[1] as Process, connection))?.token).toBe(provider.present.access);
    expect([provider.calls, provider.mostAtOnce, await stateOf(connection)]).toEqual([1, 1, ['active', null]]);
  });

  it('that have ended are waited for by every caller, and renewed once', async () => {
    const connection = await connect();
    now += (LIFE_S + 60) * 1_000;
    const tokens = await Promise.all(Array.from({ length: 24 }, (_, index) => ask(process(index % 2), connection)));
    expect(new Set(tokens.map((each) => each?.token))).toEqual(new Set([provider.present.access]));
    expect([provider.calls, provider.mostAtOnce]).toEqual([1, 1]);
  });

  it('whose process dies between the answer of the provider and its commit need attention once, and are asked about no more', async () => {
    const connection = await connect();
    now += (LIFE_S + 60) * 1_000;
    const dying = process(2, () => {
      throw new Error('killed');
    });
    await expect(ask(dying, connection)).rejects.toThrow('killed');
    now += CLAIM_OVER_MS;
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.allSettled(
        Array.from({ length: 4 }, (_, index) => ask(process(index % 2), connection)),
      );
      expect(answers.every((each) => each.status === 'rejected' && each.reason.kind === 'credential')).toBe(true);
      now += RETRY_OVER_MS;
    }
    expect([provider.calls, await stateOf(connection)]).toEqual([2, ['needs-attention', RENEWAL_REFUSED]]);
    expect(said.filter((each) => each.includes('needs attention'))).toHaveLength(1);
  });

  it('stay when the provider is away, are used while they live, and are tried again later', async () => {
    const connection = await connect();
    now += (LIFE_S - 60) * 1_000;
    provider.fates = ['broken', 'broken'];
    const old = provider.present.access;
    expect((await ask(process(0), connection))?.token).toBe(old);
    expect([(await ask(process(1), connection))?.token, provider.calls]).toEqual([old, 1]);
    now += 61_000;
    await expect(ask(process(0), connection)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(ask(process(1), connection)).rejects.toMatchObject({ kind: 'unavailable', retryAt: expect.any(Date) });
    expect([provider.calls, await stateOf(connection)]).toEqual([2, ['active', null]]);
    now += RETRY_OVER_MS;
    expect((await ask(process(1), connection))?.token).toBe(provider.present.access);
  });

  it('that one call is refused with are renewed and the call is made again, but not over and over', async () => {
    const connection = await connect();
    now += 10 * 60_000;
    const of = process(0);
    const before = (await ask(of, connection)) as Credential;
    const call = async (credential: Credential): Promise<number> => {
      const again = (): Promise<Credential | null> => ask(of, connection, { refused: credential.id });
      const dispatch = freshDispatch(fetch, (token) => `Bearer ${token}`, credential, again);
      const headers = { authorization: `Bearer ${credential.token}` };
      return (
        await dispatch(`http://${host}/api/v4/user`, {
          method: 'GET',
          headers,
          redirect: 'manual',
          signal: AbortSignal.timeout(20_000),
        })
      ).status;
    };
    provider.present = { ...provider.present, access: 'ended by somebody' };
    expect(await call(before)).toBe(200);
    provider.present = { ...provider.present, access: 'ended again' };
    expect([await call((await ask(of, connection)) as Credential), provider.calls]).toEqual([401, 1]);
    // Refused for good: the refusal of the call stands, and is no outage.
    now += 61_000;
    provider.present = { access: 'ended', refresh: 'ended' };
    expect([await call((await ask(of, connection)) as Credential), (await stateOf(connection))[0]]).toEqual([
      401,
      'needs-attention',
    ]);
  });

  it('that were taken away while they were renewed are given back to the provider, the new pair too', async () => {
    const connection = await connect();
    now += (LIFE_S + 60) * 1_000;
    const release = Promise.withResolvers<void>();
    provider.fates = [release.promise];
    const caller = ask(process(0), connection);
    caller.catch(() => {});
    await until('the call is made', () => provider.calls === 1);
    await inOrg(process(1).pool, ORG, (client) =>
      revokeTokens(client, ORG, { connectionId: connection.id, kinds: ['oauth-tokens'] }),
    );
    release.resolve();
    await expect(caller).rejects.toMatchObject({ kind: 'credential' });
    expect(await revocations(connection)).toBe(2);
  });

  it('of a renewal that outlives its claim are kept, though another one was refused meanwhile', async () => {
    const connection = await connect();
    now += (LIFE_S + 60) * 1_000;
    const release = Promise.withResolvers<void>();
    // Made before the second one is refused; its answer comes after.
    provider.fates = [release.promise];
    const slow = ask(process(0), connection);
    await until('the call is made', () => provider.calls === 1);
    now += CLAIM_OVER_MS;
    const mine = provider.present;
    provider.present = { access: 'none', refresh: 'none' };
    await expect(ask(process(1), connection)).rejects.toMatchObject({ kind: 'credential' });
    expect((await stateOf(connection))[0]).toBe('needs-attention');
    provider.present = mine;
    release.resolve();
    expect((await slow)?.token).toBe(provider.present.access);
    expect([await stateOf(connection), (await ask(process(1), connection))?.token]).toEqual([
      ['unverified', null],
      provider.present.access,
    ]);
  });

  it('are renewed by at most one call at once under any failures of provider and processes, and end as what the provider has or with one cause for attention', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = lcg(seed);
      now = START;
      const connection = await connect();
      said = [];
      for (let step = 0; step < 8; step += 1) {
        now += Math.floor(random() * LIFE_S * 1_000);
        provider.fates = [(['well', 'well', 'broken', 'lost'] as const)[Math.floor(random() * 4)] ?? 'well'];
        provider.mostAtOnce = 0;
        const dies = random() < 0.15;
        const ids = (): string => {
          if (dies) throw new Error('killed');
          return randomUUID();
        };
        let done = false;
        const callers = Promise.allSettled(
          Array.from({ length: 6 }, (_, index) => ask(process(index % 2, ids), connection)),
        ).then(() => {
          done = true;
        });
        await until('all callers have their answer', () => {
          // Others wait until the claim of the one that died is over.
          if (dies) now += CLAIM_OVER_MS;
          return done;
        });
        await callers;
        if (!dies) expect(provider.mostAtOnce).toBeLessThanOrEqual(1);
        else now += CLAIM_OVER_MS;
      }
      provider.fates = [];
      now += RETRY_OVER_MS + LIFE_S * 1_000;
      const lost = (await storedOf(connection)).refreshToken !== provider.present.refresh;
      const last = await ask(process(0), connection).catch((error: { kind: string }) => error.kind);
      const attention = (await stateOf(connection))[0] === 'needs-attention';
      // A pair that was lost on its way is found to be lost; no other is given up.
      expect([seed, attention]).toEqual([seed, lost]);
      if (attention)
        expect([last, said.filter((each) => each.includes('needs attention')).length]).toEqual(['credential', 1]);
      else expect((last as Credential).token).toBe(provider.present.access);
    }
  });
});

/** Numbers of a seed, from 0 to 1. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
