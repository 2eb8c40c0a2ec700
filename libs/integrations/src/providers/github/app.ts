import { z } from 'zod';
import type { AppAccess, AppStep, Registration, TokenRequest } from '../../apps/app-access.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, id, name, url } from '../../reading/fields.js';
import { appJwt } from './app-jwt.js';
import { hookDeliveries } from './hook-deliveries.js';
import { installation, installationOf } from './installation.js';
import { githubApi, githubLinking, isGitHubCloud } from './linking.js';
import { ownershipProof } from './ownership-proof.js';

/**
 * What the app may do. Neither `workflows` nor `administration`: GitHub then refuses a push that touches
 * `.github/workflows`.
 */
export const APP_PERMISSIONS: Readonly<Record<string, 'read' | 'write'>> = {
  metadata: 'read',
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  statuses: 'write',
  actions: 'read',
  members: 'read',
};

/** Those about the installation come unasked. */
export const APP_EVENTS = [
  ...[
    'issues',
    'issue_comment',
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
    'pull_request_review_thread',
  ],
  ...['check_run', 'check_suite', 'workflow_run', 'status', 'push', 'repository', 'member', 'organization'],
];

/**
 * The rights of each step. `members` belongs to organizations: an installation of a user has none, and the step does
 * without.
 */
const STEPS: Readonly<Record<AppStep, Readonly<Record<string, 'read' | 'write'>>>> = {
  read: { metadata: 'read', contents: 'read' },
  publish: { metadata: 'read', contents: 'write', pull_requests: 'write', checks: 'read', statuses: 'read' },
  threads: { metadata: 'read', issues: 'read', pull_requests: 'read' },
  answer: { metadata: 'read', issues: 'write', pull_requests: 'write' },
  rights: { metadata: 'read', members: 'read' },
  list: { metadata: 'read' },
};
const OPTIONAL: ReadonlySet<string> = new Set(['members', 'checks', 'statuses']);
const RANK: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };
/** GitHub's own limit for the name of an app. Characters. */
const MAX_APP_NAME = 34;
/** Above any token that there is or is announced. Characters. */
const MAX_TOKEN = 4_096;

const secret = z.string().min(1).max(10_000);
const conversion = fields({
  id,
  slug: name,
  client_id: name,
  client_secret: secret,
  webhook_secret: secret,
  pem: secret,
  html_url: url,
  owner: fields({ login: name }),
});
const accessToken = fields({
  token: z.string().min(1).max(MAX_TOKEN),
  expires_at: z.iso.datetime({ offset: true }),
  permissions: z.record(z.string().max(100), z.string().max(20)).optional(),
  repositories: z.array(fields({ full_name: name })).optional(),
});

function manifestOf({ name: appName, homeUrl, deliveriesUrl, registeredUrl, callbackUrls }: Registration): object {
  return {
    name: appName.slice(0, MAX_APP_NAME),
    url: homeUrl,
    description: 'Coding agents that work on issues and pull requests.',
    hook_attributes: { url: deliveriesUrl, active: true },
    redirect_url: registeredUrl,
    callback_urls: callbackUrls,
    // Only the owner can install it: it belongs to one organization here.
    public: false,
    request_oauth_on_install: true,
    setup_on_update: false,
    default_permissions: APP_PERMISSIONS,
    default_events: APP_EVENTS,
  };
}

/**
 * The step's rights, without those that it can do without and has not been given. @throws ProviderRefusal `forbidden`
 * where one is missing that it needs.
 */
function permissionsOf({ step, granted }: TokenRequest): Readonly<Record<string, string>> {
  const wanted = Object.entries(STEPS[step]);
  if (granted === null) return Object.fromEntries(wanted.filter(([each]) => !OPTIONAL.has(each)));
  const missing = wanted.filter(([each, access]) => !isGiven(granted, each, access));
  const needed = missing.find(([each]) => !OPTIONAL.has(each));
  if (needed !== undefined) {
    const details = { kind: 'forbidden', status: null, retryAt: null, outcomeUnknown: false } as const;
    throw new ProviderRefusal(`the installation has not been given ${needed.join(': ')}`, details);
  }
  return Object.fromEntries(wanted.filter((each) => !missing.includes(each)));
}

function isGiven(granted: Readonly<Record<string, string>>, each: string, access: string): boolean {
  const given = Object.hasOwn(granted, each) ? (granted[each] ?? '') : '';
  return (RANK[given] ?? 0) >= (RANK[access] ?? 0);
}

async function token(api: ProviderClient, asked: TokenRequest) {
  const { installationId, repository, step } = asked;
  if (repository === null && step !== 'list') throw new Error('a token for all repositories is for their names alone');
  const permissions = permissionsOf(asked);
  const body = { permissions, ...(repository === null ? {} : { repositories: [repository.split('/')[1] ?? ''] }) };
  const path = `/app/installations/${encodeURIComponent(installationId)}/access_tokens`;
  const made = (await api.call({ method: 'POST', path, body, answer: accessToken })).body;
  // A name is narrower only within the account that is installed: another one's repository of the same name is not what
  // was asked for.
  const named = made.repositories?.map(({ full_name }) => full_name.toLowerCase());
  const isOther =
    repository !== null && named !== undefined && (named.length !== 1 || named[0] !== repository.toLowerCase());
  const isWider = Object.entries(made.permissions ?? {}).some(([each, access]) => !isGiven(permissions, each, access));
  if (isOther || isWider) {
    const details = {
      kind: isOther ? 'missing' : 'unreadable',
      status: 201,
      retryAt: null,
      outcomeUnknown: false,
    } as const;
    throw new ProviderRefusal(
      `POST ${path}: a token for ${isOther ? 'another repository' : 'more'} than was asked for`,
      details,
    );
  }
  return { token: made.token, expiresAt: new Date(made.expires_at) };
}

export const githubApp: AppAccess = {
  apiUrl: githubApi,
  registration: (asked) => {
    const at =
      asked.owner === null
        ? '/settings/apps/new'
        : `/organizations/${encodeURIComponent(asked.owner)}/settings/apps/new`;
    const action = `${asked.baseUrl}${at}?${new URLSearchParams({ state: asked.state })}`;
    return { action, fields: { manifest: JSON.stringify(manifestOf(asked)) } };
  },
  register: async (api, code) => {
    const { body } = await api.call({
      method: 'POST',
      path: `/app-manifests/${encodeURIComponent(code)}/conversions`,
      answer: conversion,
    });
    const {
      client_id: clientId,
      client_secret: clientSecret,
      webhook_secret: webhookSecret,
      pem: privateKey,
      html_url,
      owner,
    } = body;
    return {
      id: body.id,
      slug: body.slug,
      clientId,
      clientSecret,
      webhookSecret,
      privateKey,
      url: html_url,
      owner: owner.login,
    };
  },
  installUrl: ({ baseUrl, slug, state }) => {
    // GitHub Enterprise Server has its apps at another path.
    const at = isGitHubCloud(baseUrl) ? '/apps' : '/github-apps';
    return `${baseUrl}${at}/${encodeURIComponent(slug)}/installations/new?${new URLSearchParams({ state })}`;
  },
  missing: (granted) =>
    Object.entries(APP_PERMISSIONS)
      .filter(([each, access]) => !isGiven(granted, each, access))
      .map(([each, access]) => `${each}: ${access}`),
  authorization: (app, now) => `Bearer ${appJwt(app, now)}`,
  installation: async (api, installationId) => {
    const path = `/app/installations/${encodeURIComponent(installationId)}`;
    return installationOf((await api.call({ method: 'GET', path, answer: installation })).body);
  },
  token,
  bot: async (api, { slug }) => {
    const path = `/users/${encodeURIComponent(`${slug}[bot]`)}`;
    return (await api.call({ method: 'GET', path, answer: fields({ id, login: name }) })).body;
  },
  self: async (api) => (await api.call({ method: 'GET', path: '/app', answer: fields({ id }) })).body.id,
  takesClient: async ({ clientId, clientSecret }, api) => {
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    try {
      // Asks about a token that there is not: the client is authenticated first.
      await api(basic).call({
        method: 'POST',
        path: `/applications/${encodeURIComponent(clientId)}/token`,
        body: { access_token: 'none' },
        answer: z.unknown(),
      });
      return true;
    } catch (error) {
      if (error instanceof ProviderRefusal && (error.kind === 'missing' || error.kind === 'invalid')) return true;
      if (error instanceof ProviderRefusal && error.kind === 'credential') return false;
      throw error;
    }
  },
  deliveries: (api) => hookDeliveries(api, '/app/hook'),
  countRepositories: async (api) => {
    const answer = fields({ total_count: z.number().int().nonnegative() });
    return (await api.call({ method: 'GET', path: '/installation/repositories?per_page=1', answer })).body.total_count;
  },
  proof: ownershipProof(githubLinking),
};
