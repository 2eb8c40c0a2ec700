import type { ErrorCode } from '../errors/error-codes.js';
import {
  ListMembersQuery,
  Member,
  MemberPage,
  MemberRemoval,
  RemoveMemberQuery,
  UpdateMember,
} from '../organizations/members.js';
import type { Operation } from './operation.js';

const MEMBERS = '/api/v1/orgs/{org}/members';
/** Of every operation that changes something and has a body. */
const WRITE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const satisfies readonly ErrorCode[];

export const memberOperations = {
  listMembers: {
    id: 'members.list',
    method: 'GET',
    path: MEMBERS,
    summary: 'Members, last joined first',
    permission: 'member:read',
    status: 200,
    query: ListMembersQuery,
    response: MemberPage,
    idempotency: 'idempotent',
    errors: [],
  },
  getMember: {
    id: 'members.get',
    method: 'GET',
    path: `${MEMBERS}/{user}`,
    summary: 'One member',
    permission: 'member:read',
    status: 200,
    response: Member,
    idempotency: 'idempotent',
    errors: [],
  },
  updateMember: {
    id: 'members.update',
    method: 'PATCH',
    path: `${MEMBERS}/{user}`,
    summary: 'Give a member another role, not above the caller’s own',
    permission: 'member:set-role',
    status: 200,
    body: UpdateMember,
    response: Member,
    idempotency: 'idempotent',
    errors: [...WRITE, 'org.last-owner', 'org.being-deleted', 'member.changed'],
  },
  previewMemberRemoval: {
    id: 'members.removal-preview',
    method: 'GET',
    path: `${MEMBERS}/{user}/removal-preview`,
    summary: 'What would go with a member',
    permission: 'member:remove',
    status: 200,
    response: MemberRemoval,
    idempotency: 'idempotent',
    errors: [],
  },
  removeMember: {
    id: 'members.delete',
    method: 'DELETE',
    path: `${MEMBERS}/{user}`,
    summary:
      'Remove a member: sessions, keys, invitations and tokens for this organization end at once, sandboxes within ten seconds',
    permission: 'member:remove',
    status: 200,
    query: RemoveMemberQuery,
    response: MemberRemoval,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'org.last-owner', 'org.personal', 'org.being-deleted'],
  },
} as const satisfies Record<string, Operation>;
