import { LinkBegun } from '../identity/linked-accounts.js';
import {
  ApprovePullRequest,
  FixPullRequest,
  MergePullRequest,
  PublishPullRequest,
  PullRequest,
  PullRequestChecks,
  PullRequestList,
} from '../repositories/pull-requests.js';
import type { Operation } from './operation.js';

const PULL_REQUESTS = '/api/v1/orgs/{org}/conversations/{conversation}/pull-requests';
const PULL_REQUEST = `${PULL_REQUESTS}/{number}`;
const CHANGE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const;

/** What a conversation publishes at a git host. */
export const pullRequestOperations = {
  publishPullRequest: {
    id: 'conversations.pull-requests.publish',
    method: 'POST',
    path: PULL_REQUESTS,
    summary:
      'Push what the workspace holds to a branch, and open or update its pull request; the answer comes before it is done',
    permission: 'pull-request:write',
    status: 202,
    body: PublishPullRequest,
    response: PullRequest,
    // There is one of a conversation and its repository: who repeats it publishes what is new, which may be nothing.
    idempotency: 'idempotent',
    errors: [
      ...CHANGE,
      'conversation.no-workspace',
      'conversation.not-running',
      'conversation.four-eyes',
      'pull-request.no-repository',
      'pull-request.no-connection',
      'pull-request.ended',
    ],
  },
  listPullRequests: {
    id: 'conversations.pull-requests.list',
    method: 'GET',
    path: PULL_REQUESTS,
    summary: 'Pull requests of a conversation, with checks, reviews and conflicts as last seen',
    permission: 'conversation:read',
    status: 200,
    response: PullRequestList,
    idempotency: 'idempotent',
    errors: [],
  },
  listPullRequestChecks: {
    id: 'conversations.pull-requests.checks.list',
    method: 'GET',
    path: `${PULL_REQUEST}/checks`,
    summary: 'Checks of the head commit, as last read; an old state is read again',
    permission: 'conversation:read',
    status: 200,
    response: PullRequestChecks,
    idempotency: 'idempotent',
    errors: [],
  },
  fixPullRequest: {
    id: 'conversations.pull-requests.fix',
    method: 'POST',
    path: `${PULL_REQUEST}/fix`,
    summary:
      'Send the agent what stands against a pull request: failed checks with their logs, or conflicts; the answer comes before it is done',
    permission: 'conversation:write',
    status: 202,
    body: FixPullRequest,
    response: PullRequest,
    // While one is on its way, another changes nothing.
    idempotency: 'idempotent',
    errors: [
      ...CHANGE,
      'pull-request.ended',
      'pull-request.nothing-to-fix',
      'pull-request.no-connection',
      'conversation.queue-full',
      'budget.exhausted',
      'storage.exhausted',
    ],
  },
  approvePullRequest: {
    id: 'conversations.pull-requests.approve',
    method: 'POST',
    path: `${PULL_REQUEST}/approve`,
    summary:
      'Begin to approve a pull request at the git host, as the user: they consent there, and this browser finishes it',
    permission: 'pull-request:merge',
    proof: 'session',
    status: 201,
    body: ApprovePullRequest,
    response: LinkBegun,
    idempotency: 'none',
    errors: [
      ...CHANGE,
      'pull-request.moved',
      'pull-request.ended',
      'pull-request.not-linked',
      'pull-request.no-connection',
      'conversation.four-eyes',
      'integration.oauth-unsupported',
      'integration.no-oauth-client',
      'settings.url-refused',
    ],
  },
  mergePullRequest: {
    id: 'conversations.pull-requests.merge',
    method: 'POST',
    path: `${PULL_REQUEST}/merge`,
    summary:
      'Merge at the head that the user saw, where they may write and the host allows it; the answer comes before it is done',
    permission: 'pull-request:merge',
    status: 202,
    body: MergePullRequest,
    response: PullRequest,
    idempotency: 'idempotent',
    errors: [
      ...CHANGE,
      'pull-request.moved',
      'pull-request.ended',
      'pull-request.needs-person',
      'pull-request.no-connection',
    ],
  },
} as const satisfies Record<string, Operation>;
