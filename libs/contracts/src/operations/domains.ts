import type { ErrorCode } from '../errors/error-codes.js';
import { ClaimDomain, OrgDomain, OrgDomainList, UpdateDomain } from '../organizations/domains.js';
import type { Operation } from './operation.js';

const DOMAINS = '/api/v1/orgs/{org}/domains';
/** Of every operation that changes something and has a body. */
const WRITE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const satisfies readonly ErrorCode[];

export const domainOperations = {
  listDomains: {
    id: 'domains.list',
    method: 'GET',
    path: DOMAINS,
    summary: 'Domains of e-mail addresses that the organization claims',
    permission: 'domain:write',
    status: 200,
    response: OrgDomainList,
    idempotency: 'idempotent',
    errors: [],
  },
  claimDomain: {
    id: 'domains.create',
    method: 'POST',
    path: DOMAINS,
    summary: 'Claim a domain; the answer has the DNS record that verifies it',
    permission: 'domain:write',
    status: 201,
    body: ClaimDomain,
    response: OrgDomain,
    idempotency: 'idempotent',
    errors: [...WRITE, 'org.personal', 'org.being-deleted', 'domain.public', 'domain.taken', 'domain.too-many'],
  },
  verifyDomain: {
    id: 'domains.verify',
    method: 'POST',
    path: `${DOMAINS}/{domain}/verify`,
    summary: 'Check the DNS record',
    permission: 'domain:write',
    status: 200,
    response: OrgDomain,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'org.being-deleted', 'domain.taken', 'domain.not-verified', 'domain.lookup-failed'],
  },
  updateDomain: {
    id: 'domains.update',
    method: 'PATCH',
    path: `${DOMAINS}/{domain}`,
    summary: 'Who joins by an address of the domain',
    permission: 'domain:write',
    status: 200,
    body: UpdateDomain,
    response: OrgDomain,
    idempotency: 'idempotent',
    errors: [...WRITE, 'org.being-deleted', 'domain.not-verified'],
  },
  releaseDomain: {
    id: 'domains.delete',
    method: 'DELETE',
    path: `${DOMAINS}/{domain}`,
    summary: 'Take a claim back; who has joined by it stays',
    permission: 'domain:write',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'org.being-deleted'],
  },
} as const satisfies Record<string, Operation>;
