import type { ErrorCode } from '../errors/error-codes.js';
import {
  AnswerEgressRequest,
  CreateEgressRule,
  EgressRequest,
  EgressRequestList,
  EgressRule,
  EgressRuleList,
  ObservedHostList,
} from '../sandboxes/egress-rules.js';
import type { Operation } from './operation.js';

const RULES = '/api/v1/orgs/{org}/egress-rules';
const REQUESTS = '/api/v1/orgs/{org}/conversations/{conversation}/egress-requests';
const WRITE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const satisfies readonly ErrorCode[];

/** Which hosts the sandboxes of an organization reach, and the requests for others. */
export const egressOperations = {
  listEgressRules: {
    id: 'egress-rules.list',
    method: 'GET',
    path: RULES,
    summary: 'Rules for connections of sandboxes, newest first',
    permission: 'egress:read',
    status: 200,
    response: EgressRuleList,
    idempotency: 'idempotent',
    errors: [],
  },
  createEgressRule: {
    id: 'egress-rules.create',
    method: 'POST',
    path: RULES,
    summary: 'Let sandboxes reach a host, or keep them from it',
    permission: 'egress:write',
    status: 201,
    body: CreateEgressRule,
    response: EgressRule,
    idempotency: 'keyed',
    errors: [
      ...WRITE,
      'idempotency.mismatch',
      'idempotency.in-progress',
      'egress.too-wide',
      'egress.no-broker',
      'settings.too-many',
      'conversation.four-eyes',
    ],
  },
  deleteEgressRule: {
    id: 'egress-rules.delete',
    method: 'DELETE',
    path: `${RULES}/{rule}`,
    summary: 'Remove a rule; connections that it let through are cut within a second',
    permission: 'egress:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'conversation.four-eyes'],
  },
  listObservedHosts: {
    id: 'egress-observed-hosts.list',
    method: 'GET',
    path: '/api/v1/orgs/{org}/egress-observed-hosts',
    summary: 'Hosts that sandboxes reached while they were observed, and no rule is about; most used first',
    permission: 'egress:read',
    status: 200,
    response: ObservedHostList,
    idempotency: 'idempotent',
    errors: [],
  },
  listEgressRequests: {
    id: 'conversations.egress-requests.list',
    method: 'GET',
    path: REQUESTS,
    summary: 'Hosts that the sandbox of a conversation asked for, newest first',
    permission: 'conversation:read',
    status: 200,
    response: EgressRequestList,
    idempotency: 'idempotent',
    errors: [],
  },
  answerEgressRequest: {
    id: 'conversations.egress-requests.answer',
    method: 'POST',
    path: `${REQUESTS}/{request}`,
    summary: 'Let the sandbox reach the host that it asked for, or refuse; the first answer counts',
    permission: 'egress:answer',
    status: 200,
    body: AnswerEgressRequest,
    response: EgressRequest,
    idempotency: 'keyed',
    errors: [
      ...WRITE,
      'idempotency.mismatch',
      'idempotency.in-progress',
      'egress.already-answered',
      'egress.too-wide',
      'egress.no-broker',
      'conversation.four-eyes',
      'settings.too-many',
    ],
  },
} as const satisfies Record<string, Operation>;
