import { DEMO_MODEL } from '@slipway/contracts/models';
import { type Operation, type OperationName, operations } from '@slipway/contracts/operations';
import { ANCHOR, type Things } from './things.js';

export interface Request {
  readonly name: OperationName;
  readonly operation: Operation;
  /** Names of the path's parameters but `org`. */
  readonly nouns: readonly string[];
}

/** Every operation about an organization. */
export const ORG_REQUESTS: readonly Request[] = Object.entries(operations)
  .map(([name, operation]) => ({
    name: name as OperationName,
    operation: operation as Operation,
    nouns: nounsOf(operation.path),
  }))
  .filter(({ operation }) => operation.path.includes('{org}'));
/** Every other: about the caller alone, or for whoever holds a token. */
export const OTHER_REQUESTS: readonly Request[] = Object.entries(operations)
  .map(([name, operation]) => ({
    name: name as OperationName,
    operation: operation as Operation,
    nouns: nounsOf(operation.path),
  }))
  .filter(({ operation }) => !operation.path.includes('{org}'));

function nounsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => (name === undefined || name === 'org' ? [] : [name]));
}

/** A body that its schema takes, for each operation that has one. Ids in it are the asker's own. */
const BODIES: Readonly<Partial<Record<OperationName, (own: Things) => unknown>>> = {
  createConversation: () => ({ prompt: 'x' }),
  sendMessage: () => ({ text: 'x' }),
  editConversation: () => ({ pinned: true }),
  bulkEditConversations: () => ({ action: 'archive', ids: ['0197c0de-0000-7000-8000-000000000001'] }),
  editCheckpoint: () => ({ name: 'x' }),
  forkConversation: () => ({ at: { seq: 1 }, prompt: 'x' }),
  editMessage: () => ({ text: 'x', version: 1 }),
  orderMessages: (own) => ({ ids: [own['message']] }),
  keepDraft: () => ({ text: 'x', version: 0 }),
  createPrompt: () => ({ name: 'x', text: 'x', scope: 'org' }),
  updatePrompt: () => ({ description: 'x' }),
  publishPullRequest: () => ({}),
  fixPullRequest: () => ({ what: 'checks' }),
  createReviewThread: () => ({ anchor: ANCHOR, text: 'x' }),
  turnHunk: () => ({ file: 'x', status: 'UPDATED', hunk: '@@ -1 +1 @@\n-a\n+b' }),
  markLooked: () => ({}),
  createReviewComment: () => ({ text: 'x' }),
  updateReviewThread: () => ({ resolved: true }),
  setViewedFile: () => ({ path: 'x', hash: 'x' }),
  approvePullRequest: () => ({ headSha: 'a'.repeat(40) }),
  mergePullRequest: () => ({ headSha: 'a'.repeat(40) }),
  answerConfirmation: () => ({ accept: false, actionIds: ['0197c0de-0000-7000-8000-000000000001'] }),
  setConfirmationMode: () => ({ mode: 'risky' }),
  switchModel: () => ({ model: DEMO_MODEL }),
  putReadMark: () => ({ seq: 1 }),
  setDeskMark: () => ({ muted: true }),
  updateRunSettings: () => ({ maxIterations: 5 }),
  carryOutPlan: () => ({}),
  askConversation: () => ({ question: 'x' }),
  revokeConfirmationRule: () => ({ tool_name: 'terminal', match: 'exact', value: 'x' }),
  grantSandboxAccess: () => ({ port: 3000 }),
  createApiKey: () => ({ name: 'x', scopes: ['org:read'] }),
  changeApiKey: () => ({ name: 'x' }),
  rotateApiKey: () => ({}),
  createServiceAccount: () => ({ name: 'x', role: 'viewer' }),
  changeServiceAccount: () => ({ name: 'x' }),
  updateOrg: () => ({ name: 'x' }),
  transferOrg: (own) => ({ userId: own['user'] }),
  deleteOrg: () => ({ confirm: 'x' }),
  updateMember: () => ({ role: 'viewer' }),
  updateOrganization: () => ({ name: 'x' }),
  updateOrganizationMember: () => ({ role: 'viewer' }),
  inviteToOrganization: () => ({ emails: ['x@example.org'], role: 'viewer' }),
  createInvitations: () => ({ emails: ['x@example.org'], role: 'viewer' }),
  claimDomain: () => ({ domain: 'claimed.example' }),
  updateSecurityRules: () => ({}),
  updateDomain: () => ({ autoJoinRole: null }),
  createSecret: () => ({ name: 'X', value: 'xxxxxx' }),
  updateSecret: () => ({ description: 'x' }),
  createMySecret: () => ({ name: 'X', value: 'xxxxxx' }),
  updateMySecret: () => ({ description: 'x' }),
  createConversationSecret: () => ({ name: 'X', value: 'xxxxxx' }),
  createCredential: () => ({
    name: 'X',
    value: 'xxxxxx',
    use: { form: 'bearer', places: [{ host: 'api.example.com' }] },
  }),
  updateCredential: () => ({ description: 'x' }),
  updateOrgSettings: () => ({}),
  createLlmProfile: () => ({ name: 'x', model: 'm' }),
  updateLlmProfile: () => ({ name: 'x' }),
  createMcpServer: () => ({ name: 'x', transport: 'stdio', command: 'true' }),
  updateMcpServer: () => ({ name: 'x' }),
  createIntegrationConnection: () => ({ provider: 'example', name: 'x' }),
  updateIntegrationConnection: () => ({ name: 'x' }),
  rotateWebhookSecret: () => ({}),
  createOutgoingWebhook: () => ({ name: 'x', url: 'https://example.com/x', events: ['conversation.failed'] }),
  updateOutgoingWebhook: () => ({ name: 'x' }),
  setOAuthClient: () => ({ clientId: 'x', clientSecret: 'x' }),
  installIntegrationHook: () => ({ repository: 'acme/shop' }),
  registerIntegrationApp: () => ({ provider: 'example', name: 'x' }),
  installPlatformApp: () => ({ provider: 'example' }),
  installIntegrationApp: () => ({}),
  replaceIntegrationAppSecrets: () => ({ clientSecret: 'x' }),
  selectIntegrationHooks: () => ({ patterns: ['acme/*'] }),
  createEgressRule: () => ({ host: 'api.example.com', action: 'allow' }),
  createEgressRules: () => ({ rules: [{ host: 'api.example.com', action: 'allow' }] }),
  tryEgressRule: () => ({ rule: { host: 'api.example.com', action: 'allow' } }),
  answerEgressRequest: () => ({ decision: 'deny', host: 'api.example.com', port: 443 }),
  changeBudgets: () => ({}),
  putBudgetOverride: () => ({ limitUsd: '5' }),
};

/** A query that its schema takes, for each operation that needs one. */
const QUERIES: Readonly<Partial<Record<OperationName, (things: Things) => Record<string, string>>>> = {
  searchEvents: () => ({ q: 'x' }),
  getProvenance: () => ({ path: 'x' }),
  getRecap: () => ({ after: '0' }),
  uploadAttachment: () => ({ name: 'x.txt' }),
  uploadTaskAttachment: () => ({ name: 'x.txt' }),
  listIntegrationBranches: (things) => ({ connection: things['connection'] ?? '', repository: 'acme/shop' }),
};

/** @throws Error when the matrix has no request for the operation. */
export function bodyOf({ name, operation }: Request, own: Things): unknown {
  if (operation.body === undefined) return undefined;
  const body = BODIES[name];
  if (body === undefined)
    throw new Error(`The matrix has no body for ${name}: add one to apps/app-server/src/testing/tenancy/requests.ts.`);
  return body(own);
}

/** @throws Error when the path names a noun that `things.ts` does not make. */
export function pathOf({ name, operation }: Request, org: string, things: Things): string {
  const path = operation.path.replaceAll(
    /(\w[\w-]*\/)?\{(\w+)\}/g,
    (_whole, before: string | undefined, noun: string) => {
      const place = before ?? '';
      if (noun === 'org') return `${place}${encodeURIComponent(org)}`;
      return `${place}${encodeURIComponent(thingOf(operation.path, noun, things))}`;
    },
  );
  return `${path}${queryOf(name, things)}`;
}

/** With its `?`; empty for an operation that needs no query. */
export function queryOf(name: OperationName, things: Things): string {
  const query = QUERIES[name]?.(things);
  return query === undefined ? '' : `?${new URLSearchParams(query)}`;
}

function thingOf(path: string, name: string, things: Things): string {
  const place = path.includes('/sandbox-access')
    ? 'sandbox-access'
    : path.includes('/me/secrets')
      ? 'me'
      : path.includes('/conversations/')
        ? 'conversation'
        : 'secrets';
  const id = things[`${place}/${name}`] ?? things[name];
  if (id === undefined)
    throw new Error(
      `The matrix has no {${name}} for ${path}: make one in apps/app-server/src/testing/tenancy/things.ts.`,
    );
  return id;
}
