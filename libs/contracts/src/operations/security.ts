import type { ErrorCode } from '../errors/error-codes.js';
import { EndedSessions } from '../identity/account.js';
import {
  ListMemberSessionsQuery,
  MemberSessionPage,
  SecurityRules,
  UpdateSecurityRules,
} from '../organizations/security.js';
import type { Operation } from './operation.js';

const ORG = '/api/v1/orgs/{org}';
/** Of every operation that changes something and has a body. */
const WRITE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const satisfies readonly ErrorCode[];

/** What an organization asks of its members' sign-ins, and the sessions that they have. */
export const securityOperations = {
  getSecurityRules: {
    id: 'security.get',
    method: 'GET',
    path: `${ORG}/security`,
    summary: 'How old, how idle and how strong a sign-in of a member may be',
    permission: 'security:read',
    status: 200,
    response: SecurityRules,
    versioned: true,
    idempotency: 'idempotent',
    errors: [],
  },
  updateSecurityRules: {
    id: 'security.update',
    method: 'PATCH',
    path: `${ORG}/security`,
    summary: 'Change the rules for sign-ins; they hold everywhere within two seconds',
    permission: 'security:write',
    status: 200,
    body: UpdateSecurityRules,
    response: SecurityRules,
    versioned: true,
    idempotency: 'idempotent',
    errors: [...WRITE, 'org.being-deleted', 'settings.changed', 'security.second-factor-first'],
  },
  listMemberSessions: {
    id: 'member-sessions.list',
    method: 'GET',
    path: `${ORG}/sessions`,
    summary: 'Browsers that are signed in as members, last begun first',
    permission: 'security:read',
    status: 200,
    query: ListMemberSessionsQuery,
    response: MemberSessionPage,
    idempotency: 'idempotent',
    errors: [],
  },
  endMemberSession: {
    id: 'member-sessions.delete',
    method: 'DELETE',
    path: `${ORG}/sessions/{session}`,
    summary: 'Sign one browser of a member out, everywhere within two seconds',
    permission: 'security:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
  endMemberSessions: {
    id: 'member-sessions.end-all',
    method: 'POST',
    path: `${ORG}/members/{user}/end-sessions`,
    summary: 'Sign every browser of a member out, everywhere within two seconds',
    permission: 'security:write',
    status: 200,
    response: EndedSessions,
    idempotency: 'idempotent',
    errors: ['request.cross-site'],
  },
} as const satisfies Record<string, Operation>;
