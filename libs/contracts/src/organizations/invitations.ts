import { z } from 'zod';
import { PageQuery, pageOf } from '../conversations/conversations.js';
import { ROLES } from './permissions.js';

/** Most addresses of one request. */
export const MAX_INVITED_AT_ONCE = 100;
/** Most invitations of one organization that wait for an answer. */
export const MAX_OPEN_INVITATIONS = 1_000;

export const INVITATION_STATES = ['open', 'accepted', 'revoked', 'expired'] as const;
/**
 * `link`: this installation sends no mail, the link was given to whoever invited. `waiting`: it will be sent, or sent
 * again after a failure. `failed`: given up.
 */
export const MAIL_STATES = ['link', 'waiting', 'sent', 'failed'] as const;

export const Invitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(ROLES),
  state: z.enum(INVITATION_STATES),
  invitedBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  mail: z.object({
    state: z.enum(MAIL_STATES),
    sentAt: z.iso.datetime().nullable(),
    /** What the mail server said last, when it refused. */
    error: z.string().nullable(),
  }),
});
export type Invitation = z.infer<typeof Invitation>;

/** Newest first. Without `state`: all. */
export const ListInvitationsQuery = PageQuery.extend({ state: z.enum(INVITATION_STATES).optional() });
export type ListInvitationsQuery = z.infer<typeof ListInvitationsQuery>;
export const InvitationPage = pageOf(Invitation);
export type InvitationPage = z.infer<typeof InvitationPage>;

export const CreateInvitations = z.strictObject({
  /** As typed; one that is no address comes back as `invalid` and hinders no other. */
  emails: z.array(z.string().max(400)).min(1).max(MAX_INVITED_AT_ONCE),
  /** Not above the caller's own. */
  role: z.enum(ROLES),
  /** A few words for the mail; plain text. */
  message: z
    .string()
    .trim()
    .max(500)
    .refine((text) => !text.includes('\u0000'), 'must not contain the character NUL')
    .optional(),
});
export type CreateInvitations = z.infer<typeof CreateInvitations>;

/** An invitation with what whoever made it does next. */
export const SentInvitation = z.object({
  invitation: Invitation,
  /** Only when this installation sends no mail: for a user to pass on. It is in this answer and nowhere else. */
  link: z.string().nullable(),
  /** Whether a mail goes out by itself. */
  sent: z.boolean(),
});
export type SentInvitation = z.infer<typeof SentInvitation>;

/** One a line of the request, in its order; the same address twice is `already-invited` the second time. */
export const InvitationOutcome = z.object({
  email: z.string(),
  outcome: z.enum(['invited', 'already-member', 'already-invited', 'invalid']),
  invitation: Invitation.nullable(),
  link: z.string().nullable(),
  sent: z.boolean(),
});
export type InvitationOutcome = z.infer<typeof InvitationOutcome>;
export const InvitationOutcomes = z.object({ data: z.array(InvitationOutcome) });
export type InvitationOutcomes = z.infer<typeof InvitationOutcomes>;

/** What a holder of the link sees before they accept. */
export const InvitationPreview = z.object({
  orgName: z.string(),
  invitedBy: z.string(),
  role: z.enum(ROLES),
  state: z.enum(INVITATION_STATES),
  expiresAt: z.iso.datetime(),
  /** The invited address with most of it hidden: `a…@example.com`. */
  maskedEmail: z.string(),
  /**
   * Relation of the signed-in account to it. `anonymous`: no user is signed in. `unverified`: the address is right but
   * was never confirmed.
   */
  account: z.enum(['anonymous', 'matches', 'unverified', 'other']),
});
export type InvitationPreview = z.infer<typeof InvitationPreview>;
