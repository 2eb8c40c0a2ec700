import { createHash } from 'node:crypto';
import type { CredentialScope } from '@slipway/contracts/credentials';
import type { SecretKind, SecretScope } from '@slipway/contracts/secrets';

/** Everything that stands sealed in the database: what is missing here is lost when its key goes. */

/** What a secret's value is bound to beside its organization: another kind, receiver or name, and it does not open. */
export function secretContext(secret: {
  kind: SecretKind;
  scope: SecretScope;
  scopeValue: string;
  name: string;
}): string {
  return JSON.stringify(['secret', secret.kind, secret.scope, secret.scopeValue, secret.name]);
}

/**
 * Of a brokered credential. `use` is as it is stored, and by its hash a part: for other places, or another form, the
 * value does not open.
 */
export function credentialContext(credential: {
  id: string;
  name: string;
  scope: CredentialScope;
  scopeValue: string;
  use: unknown;
}): string {
  const { id, name, scope, scopeValue, use } = credential;
  const hash = createHash('sha256')
    .update(JSON.stringify(inOrder(use)))
    .digest('hex');
  return JSON.stringify(['credential', id, name, scope, scopeValue, hash]);
}

/** With the keys of each object by name: the database keeps them in an order of its own. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, each]) => [key, inOrder(each)]);
}

/** Of the key to a model provider. The address is part of it: a key does not open for another one. */
export function llmKeyContext(profile: { id: string; baseUrl: string | null }): string {
  return JSON.stringify(['llm-profile', profile.id, profile.baseUrl]);
}

/** Of a webhook secret or token of a connection. */
export function integrationSecretContext(secret: { id: string; connectionId: string; kind: string }): string {
  return JSON.stringify(['integration-secret', secret.connectionId, secret.kind, secret.id]);
}

/** Of a signing secret of an organization's own webhook. */
export function outgoingWebhookContext(secret: { id: string; webhookId: string }): string {
  return JSON.stringify(['outgoing-webhook', secret.webhookId, secret.id]);
}

/** Of a delivery as it came. */
export function deliveryContext(delivery: { id: string; connectionId: string }): string {
  return JSON.stringify(['integration-delivery', delivery.connectionId, delivery.id]);
}

/** Of the key of a pack of checkpoints, in base64. */
export function packKeyContext(pack: { id: string }): string {
  return JSON.stringify(['pack', pack.id]);
}

type Row = Readonly<Record<string, unknown>>;

/** A column whose values are under the data key of their row's `org_id`, the version in `key_version`. */
export interface DataKeyColumn {
  readonly table: string;
  readonly column: string;
  /** What else of the row `context` reads. */
  readonly reads: readonly string[];
  readonly context: (row: Row) => string;
}

export const DATA_KEY_COLUMNS: readonly DataKeyColumn[] = [
  {
    table: 'app.secret',
    column: 'sealed',
    reads: ['kind', 'scope', 'scope_value', 'name'],
    context: ({ kind, scope, scope_value, name }) =>
      secretContext({
        kind: kind as SecretKind,
        scope: scope as SecretScope,
        scopeValue: scope_value as string,
        name: name as string,
      }),
  },
  {
    table: 'app.credential',
    column: 'sealed',
    reads: ['name', 'scope', 'scope_value', 'use'],
    context: ({ id, name, scope, scope_value, use }) =>
      credentialContext({
        id: id as string,
        name: name as string,
        scope: scope as CredentialScope,
        scopeValue: scope_value as string,
        use,
      }),
  },
  {
    table: 'app.llm_profile',
    column: 'sealed_api_key',
    reads: ['base_url'],
    context: ({ id, base_url }) => llmKeyContext({ id: id as string, baseUrl: base_url as string | null }),
  },
  {
    table: 'app.integration_secret',
    column: 'sealed',
    reads: ['connection_id', 'kind'],
    context: ({ id, connection_id, kind }) =>
      integrationSecretContext({ id: id as string, connectionId: connection_id as string, kind: kind as string }),
  },
  {
    table: 'app.credential_revocation',
    column: 'sealed',
    reads: ['connection_id', 'kind'],
    context: ({ id, connection_id, kind }) =>
      integrationSecretContext({ id: id as string, connectionId: connection_id as string, kind: kind as string }),
  },
  {
    table: 'app.outgoing_webhook_secret',
    column: 'sealed',
    reads: ['webhook_id'],
    context: ({ id, webhook_id }) => outgoingWebhookContext({ id: id as string, webhookId: webhook_id as string }),
  },
  {
    table: 'app.integration_delivery',
    column: 'sealed',
    reads: ['connection_id'],
    context: ({ id, connection_id }) => deliveryContext({ id: id as string, connectionId: connection_id as string }),
  },
  { table: 'app.pack', column: 'wrapped_key', reads: [], context: ({ id }) => packKeyContext({ id: id as string }) },
];

/**
 * A column whose values are directly under the master key. What lapses by itself within hours is not among them:
 * sign-ins under way, places in the queue for a sandbox.
 */
export interface MasterKeyColumn {
  readonly database: 'app' | 'runtime';
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly key: readonly { readonly name: string; readonly type: 'text' | 'uuid' }[];
  readonly context: (key: readonly string[]) => string;
}

const RUNTIME_SESSION = {
  database: 'runtime',
  table: 'runtime.session',
  key: [
    { name: 'org_id', type: 'text' },
    { name: 'session_id', type: 'text' },
  ],
} as const;

export const MASTER_KEY_COLUMNS: readonly MasterKeyColumn[] = [
  {
    database: 'app',
    table: 'app.session',
    column: 'tokens',
    key: [{ name: 'id', type: 'text' }],
    context: ([id]) => `session:${id}`,
  },
  {
    database: 'app',
    table: 'app.conversation',
    column: 'sandbox_key',
    key: [{ name: 'id', type: 'uuid' }],
    context: ([id]) => `sandbox-key:${id}`,
  },
  {
    database: 'app',
    table: 'app.provider_token',
    column: 'token',
    key: [
      { name: 'user_id', type: 'text' },
      { name: 'provider', type: 'text' },
    ],
    context: ([user, provider]) => `provider-token:${user}:${provider}`,
  },
  {
    database: 'app',
    table: 'app.outgoing_mail',
    column: 'body',
    key: [{ name: 'id', type: 'uuid' }],
    context: ([id]) => `mail:${id}`,
  },
  {
    database: 'app',
    table: 'app.identity_key',
    column: 'sealed',
    key: [{ name: 'id', type: 'text' }],
    context: ([id]) => `identity-key:${id}`,
  },
  { ...RUNTIME_SESSION, column: 'api_key', context: ([org, id]) => `runtime-key:${org}:${id}` },
  { ...RUNTIME_SESSION, column: 'environment', context: ([org, id]) => `runtime-environment:${org}:${id}` },
];
