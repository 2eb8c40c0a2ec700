import { randomUUID } from 'node:crypto';
import { exampleDelivery } from '@slipway/integrations/testing';
import type { SeededOrg } from '@slipway/testing';
import type { ConversationApp } from '../conversation-app.js';
import { thought } from '../conversation-app.js';
import type { Caller } from './callers.js';

/** What stands in the names and texts of an organization's things, so that a leak is seen wherever it is. */
export const canaryOf = (org: SeededOrg): string => `canary-${org.slug}`;

/**
 * Ids by the name of the path's parameter; of a name that means different things in different places, by `<noun before
 * it>/<name>`.
 */
export type Things = Readonly<Record<string, string>>;

/** Lines that a thread is about. */
export const ANCHOR = {
  path: 'src/retry.ts',
  side: 'new',
  line: 1,
  endLine: 1,
  hash: '1a',
  before: null,
  after: null,
  copies: 1,
  copy: 1,
  excerpt: 'x',
  base: null,
} as const;

/** Unused ids of the right form. */
export function missingThings(like: Things): Things {
  return Object.fromEntries(Object.entries(like).map(([name, id]) => [name, missingLike(id)]));
}

function missingLike(id: string): string {
  if (/^[0-9a-f]{8}-/.test(id)) return randomUUID();
  if (/^[0-9a-f]{64}$/.test(id)) return '0'.repeat(64);
  const prefix = /^[a-z]+_/.exec(id)?.[0];
  if (prefix !== undefined) return `${prefix}${'0'.repeat(id.length - prefix.length)}`;
  return id.includes('.') ? 'missing.example' : 'missing';
}

/** One of everything that can be addressed in an organization, made over its own routes by its owner. */
export async function makeThings(app: ConversationApp, org: SeededOrg, owner: Caller, member: Caller): Promise<Things> {
  const canary = canaryOf(org);
  const root = `/api/v1/orgs/${org.id}`;
  const make = async <T>(path: string, body: unknown, by: Caller = owner): Promise<T> => {
    const { status, json } = await by.ask('POST', `${root}${path}`, body);
    if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(json)}`);
    return json as T;
  };
  const conversation = await make<{ id: string }>('/conversations', {
    prompt: `${canary} prompt`,
    title: `${canary} title`,
  });
  const message = await make<{ id: string }>(`/conversations/${conversation.id}/messages`, {
    text: `${canary} message`,
  });
  const thread = await make<{ id: string; comments: Array<{ id: string }> }>(
    `/conversations/${conversation.id}/review/threads`,
    { anchor: { ...ANCHOR, path: `${canary}.ts` }, text: `${canary} comment` },
  );
  const sandbox = await make<{ id: string }>('/conversations', { prompt: `${canary} sandbox` });
  await app.started(sandbox.id, 1, { url: 'http://127.0.0.1:9', key: 'none' });
  await app.owner.query("UPDATE app.conversation SET desired = 'run' WHERE id = $1", [sandbox.id]);
  const { rows: logged } = await app.owner.query<{ sha256: string }>(
    `WITH made AS (INSERT INTO app.blob (org_id, sha256, bytes, content) VALUES ($1, encode(sha256($2::bytea), 'hex'), length($2::bytea), $2::bytea) RETURNING sha256)
     INSERT INTO app.conversation_blob (conversation_id, sha256, org_id) SELECT $3, sha256, $1 FROM made RETURNING sha256`,
    [org.id, Buffer.from(`${canary} blob`), conversation.id],
  );
  await app.owner.query(
    `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event) SELECT $1, head + 1, $2, 0, $3, 'MessageEvent', $4 FROM app.conversation WHERE id = $1`,
    [conversation.id, org.id, randomUUID(), JSON.stringify(thought(`${canary} event`))],
  );
  await app.owner.query('UPDATE app.conversation SET head = head + 1 WHERE id = $1', [conversation.id]);
  const attachment = randomUUID();
  await app.owner.query(
    `INSERT INTO app.attachment (id, org_id, conversation_id, name, media_type, bytes, content, created_by, created_by_label, message_id)
     VALUES ($1, $2, $3, $4, 'text/plain', length($5::bytea), $5, 'u', 'u', $6)`,
    [attachment, org.id, conversation.id, `${canary}.txt`, Buffer.from(`${canary} file`), message.id],
  );
  const access = await make<{ id: string }>(`/conversations/${sandbox.id}/sandbox-access`, { port: 3000 });
  const key = await make<{ id: string }>('/api-keys', { name: `${canary} key`, scopes: ['org:read'] });
  const account = await make<{ id: string }>('/service-accounts', { name: `${canary} account`, role: 'member' });
  const invitations = await make<{ data: Array<{ invitation: { id: string } }> }>('/invitations', {
    emails: [`invited@${org.slug}.example`],
    role: 'member',
  });
  const domain = await make<{ domain: string }>('/domains', { domain: `${org.slug}.example` });
  const secret = await make<{ id: string }>('/secrets', {
    name: 'SHARED',
    value: `${canary} value`,
    description: canary,
  });
  const mine = await make<{ id: string }>(
    '/me/secrets',
    { name: 'MINE', value: `${canary} value`, description: canary },
    member,
  );
  const conversations = await make<{ id: string }>(`/conversations/${conversation.id}/secrets`, {
    name: 'CONVERSATIONS',
    value: `${canary} value`,
  });
  const prompt = await make<{ id: string }>('/prompts', {
    name: 'shared',
    description: canary,
    text: `${canary} text`,
    scope: 'org',
  });
  const profile = await make<{ id: string }>('/llm-profiles', { name: `${canary} profile`, model: 'm' });
  const server = await make<{ id: string }>('/mcp-servers', {
    name: `${canary} server`,
    transport: 'stdio',
    command: 'true',
  });
  const connected = await make<{ connection: { id: string; address: string }; webhookSecret: string }>(
    '/integrations/connections',
    {
      provider: 'example',
      name: `${canary} connection`,
    },
  );
  const delivered = exampleDelivery(connected.webhookSecret, { text: `${canary} delivery` });
  const { status: taken } = await fetch(connected.connection.address, { method: 'POST', ...delivered });
  if (taken !== 200) throw new Error(`a delivery was answered ${taken}`);
  await app.owner.query(
    `INSERT INTO app.pull_request (id, org_id, conversation_id, provider, host, repository, number, title, head_sha, wanted, state)
     VALUES ($1, $2, $3, 'gitea', 'git.example', 'a/b', 1000077, $4, $5, '{}', 'open')`,
    [randomUUID(), org.id, conversation.id, `${canary} pull request`, 'a'.repeat(40)],
  );
  const { rows: deliveries } = await app.owner.query<{ id: string }>(
    'SELECT id FROM app.integration_delivery WHERE org_id = $1',
    [org.id],
  );
  const { rows: hooks } = await app.owner.query<{ id: string }>(
    `INSERT INTO app.integration_hook (id, org_id, connection_id, repository, hook_id, secret_id, installed_by, installed_by_label)
     VALUES ($1, $2, $3, $4, '1', 's', 'u', 'u') RETURNING id`,
    [randomUUID(), org.id, connected.connection.id, `${canary}/hook`],
  );
  const authorization = randomUUID();
  await app.owner.query(
    `INSERT INTO app.authorization_request (id, org_id, user_id, session_id, connection_id, state_hash, nonce_hash, expires_at, found)
     VALUES ($1, $2, 'u', 's', $3, convert_to($1, 'UTF8'), '\\x00', now() + interval '1 hour', $4)`,
    [
      authorization,
      org.id,
      connected.connection.id,
      JSON.stringify({
        ids: ['1'],
        mention: null,
        name: `${canary} bot`,
        account: null,
        accountName: null,
        scopes: null,
      }),
    ],
  );
  const hook = await make<{ webhook: { id: string } }>('/webhooks', {
    name: `${canary} webhook`,
    url: 'https://example.com/hook',
    events: ['conversation.failed'],
  });
  const credential = await make<{ id: string }>('/credentials', {
    name: 'BROKERED',
    value: `${canary} value`,
    description: canary,
    use: { form: 'bearer', places: [{ host: 'api.example.com' }] },
  });
  const rule = await make<{ id: string }>('/egress-rules', {
    host: 'api.example.com',
    action: 'allow',
    reason: `${canary} rule`,
  });
  const request = `egq_${randomUUID()}`;
  await app.owner.query(
    `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, first_time, reason)
     VALUES ($1, $2, $3, 'clm', 'api.example.com', 443, true, $4)`,
    [org.id, request, conversation.id, `${canary} request`],
  );
  await app.owner.query(
    `WITH tally AS (INSERT INTO app.credential_tally (org_id, conversation_id, credential_id, place, day, uses) VALUES ($1, $3, $4, $6, current_date, 1))
     INSERT INTO app.credential_request (org_id, id, conversation_id, claim_id, host, port, credential_id, place_key, use, fingerprint, first_time, reason)
     VALUES ($1, $2, $3, 'clm', 'api.example.com', 443, $4, 'place', $5, 'asked', true, $6)`,
    [
      org.id,
      `cuq_${randomUUID()}`,
      conversation.id,
      credential.id,
      JSON.stringify({
        credential: { id: credential.id, name: `${canary} credential` },
        ask: 'each-use',
        place: '/**',
        method: 'POST',
        path: '/v1',
        queryBytes: null,
        bodyBytes: 0,
        bodyType: null,
        refs: [],
      }),
      `${canary} use`,
    ],
  );
  await app.owner.query(
    'INSERT INTO app.egress_observed (org_id, host, port, conversation_id) VALUES ($1, $2, 443, $3)',
    [org.id, `${canary.toLowerCase()}.example.com`, conversation.id],
  );
  await app.owner.query(
    `INSERT INTO app.egress_tally (org_id, conversation_id, hour, host, port, verdict) VALUES ($1, $2, date_trunc('hour', now()), $3, 443, 'allowed')`,
    [org.id, conversation.id, `${canary.toLowerCase()}.example.com`],
  );
  await app.owner.query(
    `INSERT INTO app.egress_body (org_id, conversation_id, hour, host, port, type, folder) VALUES ($1, $2, date_trunc('hour', now()), $3, 443, '', $3)`,
    [org.id, conversation.id, `${canary.toLowerCase()}.example.com`],
  );
  const { rows: kept } = await app.owner.query<{ id: string }>(
    `INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, root, content_hash, reason, quiet, complete, files, logical_bytes, new_bytes, name, taken_at)
     VALUES ($1, gen_random_uuid(), $2, 1, gen_random_uuid(), 1, sha256('a'), sha256('a'), 'rest', true, true, 1, 1, 1, $3, now()) RETURNING id`,
    [org.id, conversation.id, `${canary} checkpoint`],
  );
  const sent = await make<{ id: string }>(`/webhooks/${hook.webhook.id}/test`, undefined);
  return {
    webhook: hook.webhook.id,
    entry: sent.id,
    connection: connected.connection.id,
    authorization,
    hook: hooks[0]?.id ?? '',
    delivery: deliveries[0]?.id ?? '',
    conversation: conversation.id,
    // Longer than a port: the address of a server has none of it.
    number: '1000077',
    message: message.id,
    attachment,
    thread: thread.id,
    comment: thread.comments[0]?.id ?? '',
    draft: conversation.id,
    checkpoint: kept[0]?.id ?? '',
    prompt: prompt.id,
    'sandbox-access/access': access.id,
    'sandbox-access/conversation': sandbox.id,
    sha256: logged[0]?.sha256 ?? '',
    key: key.id,
    account: account.id,
    user: org.members[3]?.userId ?? '',
    session: org.members[3]?.sessionId ?? '',
    invitation: invitations.data[0]?.invitation.id ?? '',
    domain: domain.domain,
    'secrets/secret': secret.id,
    'me/secret': mine.id,
    'conversation/secret': conversations.id,
    profile: profile.id,
    // The installation's, not an organization's: this one is unused.
    deployment: 'gpt-4o/1',
    server: server.id,
    credential: credential.id,
    rule: rule.id,
    request,
    sandbox: sandbox.id,
  };
}
