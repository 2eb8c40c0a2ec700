import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Envelope, secretContext } from '@slipway/auth/envelope';
import { type McpTestResponse } from '@slipway/contracts/agent';
import { type Principal } from '@slipway/contracts/organizations';
import { type Runtime } from '@slipway/contracts/sandboxes';
import { MAX_TESTED_TOOLS, type McpServerTest } from '@slipway/contracts/secrets';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Ids, mcpServerConfigOf, secretsOfMcpServer } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { agentAt } from '../../conversations/reach-sandbox.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { RuntimeApiClient } from '../../sandboxes/runtime-api.client.js';
import {
  findServer,
  type McpServerRow,
  markUsed,
  type SealedVariable,
  sealedVariables,
} from './mcp-servers.queries.js';

/** Longest wait for the server: a program may have to be installed first. Seconds. */
const SERVER_SECONDS = { stdio: 60, http: 20, sse: 20 } as const;
/** Longest wait for the sandbox. Milliseconds. */
const SANDBOX_MS = 60_000;
/** What the sandbox may take beside the server. Milliseconds. */
const MARGIN_MS = 5_000;
/** Largest answer of a test. Bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Tests of one organization under way at once, here: each has a sandbox. */
const MAX_AT_ONCE = 2;
/** Longest name of a tool, and longest sentence, that is passed on. Characters. */
const MAX_NAME = 200;
const MAX_DETAIL = 1_000;

/**
 * Tries a server as an agent would: in a sandbox of its own, under the network rules of sandboxes, which ends with the
 * test. Nothing of a server is run or reached from here.
 */
@Injectable()
export class McpTestService {
  private readonly runtime: RuntimeApiClient | null;
  private readonly underWay = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly envelope: Envelope,
  ) {
    this.runtime =
      config.RUNTIME_API_URL === undefined || config.RUNTIME_API_KEY === undefined
        ? null
        : new RuntimeApiClient({ url: config.RUNTIME_API_URL, apiKey: config.RUNTIME_API_KEY });
  }

  /**
   * Secrets are those that every conversation is given, no others.
   * @throws SlipwayError `resource.not-found`; `permission.denied` for one that names secrets, without `secret:write`;
   * `settings.url-refused` when its address is not
   *   public any more; `rate.limited`; `sandbox.*` and `service.unavailable` when there is no sandbox to try it in;
   *   `secret.unreadable`.
   */
  async test(caller: Principal, id: string): Promise<McpServerTest> {
    const { row, variables, withholds } = await inOrg(this.pool, caller.orgId, async (client) => {
      const found = await findServer(client, caller.orgId, id);
      if (found === null) throw notFound();
      const { secretsInSandbox } = await readOrgSettings(client, caller.orgId);
      return {
        row: found,
        variables: await sealedVariables(client, caller.orgId, secretsOfMcpServer(found.config)),
        withholds: secretsInSandbox !== 'allowed',
      };
    });
    const names = secretsOfMcpServer(row.config);
    // Who may send a secret to an address of their choice may as well read it.
    if (names.length > 0 && !caller.permissions.has('secret:write'))
      throw new SlipwayError(
        'permission.denied',
        'Trying a server that is given secrets needs the permission secret:write.',
      );
    if (row.transport !== 'stdio' && row.config.url !== undefined)
      await assertOutside(row.config.url, this.config.ALLOW_PRIVATE_URLS);
    if (withholds && names.length > 0)
      return settingsFailure('It needs a secret, and this organization gives sandboxes no values of secrets.');
    const missing = names.filter((name) => !variables.some((variable) => variable.name === name));
    if (missing.length > 0) return notTried(missing);
    if (this.runtime === null)
      throw new SlipwayError(
        'service.unavailable',
        'This installation does not let app-server start sandboxes, which a test needs.',
      );
    return this.inItsTurn(caller.orgId, () => this.inSandbox(caller, row, variables));
  }

  private async inItsTurn<T>(orgId: string, work: () => Promise<T>): Promise<T> {
    const now = this.underWay.get(orgId) ?? 0;
    if (now >= MAX_AT_ONCE)
      throw new SlipwayError(
        'rate.limited',
        `${MAX_AT_ONCE} servers of the organization are being tested; wait for their answers.`,
        { retryAfterSeconds: 10 },
      );
    this.underWay.set(orgId, now + 1);
    try {
      return await work();
    } finally {
      const left = (this.underWay.get(orgId) ?? 1) - 1;
      if (left === 0) this.underWay.delete(orgId);
      else this.underWay.set(orgId, left);
    }
  }

  private async inSandbox(
    caller: Principal,
    row: McpServerRow,
    sealed: readonly SealedVariable[],
  ): Promise<McpServerTest> {
    const variables = await this.opened(caller.orgId, sealed);
    // Before anything goes out: no use of a secret without its entry.
    await inOrg(this.pool, caller.orgId, async (client) => {
      await markUsed(client, caller.orgId, sealed);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'mcp-server.test',
          target: row.id,
          detail: { name: row.name, transport: row.transport, secrets: Object.keys(variables).sort() },
        }),
      );
    });
    const timeout = SERVER_SECONDS[row.transport];
    const ready = AbortSignal.timeout(SANDBOX_MS);
    return (this.runtime as RuntimeApiClient).borrow(
      caller.orgId,
      `mcp-test-${randomUUID()}`,
      ready,
      async (runtime: Runtime) => {
        const sandbox = agentAt({ url: runtime.url, sessionKey: runtime.session_api_key });
        if (sealed.length > 0)
          await sandbox.call('setSecrets', { body: { variables, git: [] } }, { timeoutMs: MARGIN_MS });
        const began = performance.now();
        const body = { name: row.name, server: mcpServerConfigOf(row.transport, row.config), timeout };
        const answer = await sandbox.call(
          'testMcpServer',
          { body },
          { timeoutMs: timeout * 1_000 + MARGIN_MS, maxBytes: MAX_ANSWER_BYTES },
        );
        return resultOf(answer, Math.round(performance.now() - began));
      },
    );
  }

  private async opened(orgId: string, sealed: readonly SealedVariable[]): Promise<Record<string, string>> {
    const opened = sealed.map(async ({ name, sealed: bytes, keyVersion }) => {
      const value = await this.envelope
        .open(orgId, { bytes, keyVersion }, secretContext({ kind: 'variable', scope: 'org', scopeValue: '', name }))
        .catch((error: unknown) => {
          throw new SlipwayError('secret.unreadable', `The secret ${name} cannot be opened.`, { cause: error });
        });
      return [name, value] as const;
    });
    return Object.fromEntries(await Promise.all(opened));
  }
}

function resultOf(answer: McpTestResponse, elapsedMs: number): McpServerTest {
  if (!answer.ok)
    return {
      ok: false,
      elapsedMs,
      tools: [],
      moreTools: 0,
      failure: { kind: answer.error_kind, detail: answer.error.slice(0, MAX_DETAIL) },
    };
  const tools = answer.tools.slice(0, MAX_TESTED_TOOLS).map((tool) => tool.slice(0, MAX_NAME));
  return { ok: true, elapsedMs, tools, moreTools: answer.tools.length - tools.length, failure: null };
}

function notTried(missing: readonly string[]): McpServerTest {
  const [what, them] =
    missing.length === 1 ? [`the secret ${missing[0]}`, 'it'] : [`the secrets ${missing.join(', ')}`, 'them'];
  const detail = `It needs ${what}, and a test is given only what every conversation is given. Keep ${them} for every conversation, or leave it to a conversation that has ${them}.`;
  return settingsFailure(detail);
}

function settingsFailure(detail: string): McpServerTest {
  return { ok: false, elapsedMs: 0, tools: [], moreTools: 0, failure: { kind: 'settings', detail } };
}
