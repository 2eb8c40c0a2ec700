import type { ErrorCode } from '../errors/error-codes.js';
import {
  CreateInvitations,
  InvitationOutcomes,
  InvitationPage,
  InvitationPreview,
  ListInvitationsQuery,
  SentInvitation,
} from '../organizations/invitations.js';
import { Org } from '../organizations/orgs.js';
import type { Operation } from './operation.js';

const INVITATIONS = '/api/v1/orgs/{org}/invitations';
/** The token is the link's last part. One that was never given out is `resource.not-found`. */
const TOKEN = '/api/v1/invitations/{token}';
/** Of every operation that changes something and has a body. */
const WRITE = ['request.not-json', 'request.too-large', 'request.cross-site'] as const satisfies readonly ErrorCode[];

// What gives out a link is not keyed: a stored answer would be a stored token.
export const invitationOperations = {
  listInvitations: {
    id: 'invitations.list',
    method: 'GET',
    path: INVITATIONS,
    summary: 'Invitations, newest first',
    permission: 'member:invite',
    status: 200,
    query: ListInvitationsQuery,
    response: InvitationPage,
    idempotency: 'idempotent',
    errors: [],
  },
  createInvitations: {
    id: 'invitations.create',
    method: 'POST',
    path: INVITATIONS,
    summary: 'Invite up to 100 addresses; each gets an outcome of its own',
    permission: 'member:invite',
    status: 200,
    body: CreateInvitations,
    response: InvitationOutcomes,
    idempotency: 'idempotent',
    errors: [...WRITE, 'org.personal', 'org.being-deleted', 'invitation.too-many', 'invitation.mail-limit'],
  },
  resendInvitation: {
    id: 'invitations.resend',
    method: 'POST',
    path: `${INVITATIONS}/{invitation}/resend`,
    summary: 'A new link that holds for seven days; the one before ends',
    permission: 'member:invite',
    status: 200,
    response: SentInvitation,
    idempotency: 'idempotent',
    errors: [
      'request.cross-site',
      'org.being-deleted',
      'invitation.used',
      'invitation.revoked',
      'invitation.mail-limit',
    ],
  },
  revokeInvitation: {
    id: 'invitations.delete',
    method: 'DELETE',
    path: `${INVITATIONS}/{invitation}`,
    summary: 'Take an invitation back',
    permission: 'member:invite',
    status: 204,
    idempotency: 'idempotent',
    errors: ['request.cross-site', 'org.being-deleted', 'invitation.used'],
  },
  readInvitation: {
    id: 'invitations.read',
    method: 'GET',
    path: TOKEN,
    summary: 'What a link invites to; with or without a signed-in user',
    permission: null,
    anonymous: true,
    status: 200,
    response: InvitationPreview,
    idempotency: 'idempotent',
    errors: [],
  },
  acceptInvitation: {
    id: 'invitations.accept',
    method: 'POST',
    path: `${TOKEN}/accept`,
    summary: 'Join by a link, with the account of the invited address; again is harmless',
    permission: null,
    status: 200,
    response: Org,
    idempotency: 'idempotent',
    errors: [
      'request.cross-site',
      'org.being-deleted',
      'invitation.other-account',
      'invitation.unverified',
      'invitation.expired',
      'invitation.revoked',
      'invitation.used',
    ],
  },
} as const satisfies Record<string, Operation>;
