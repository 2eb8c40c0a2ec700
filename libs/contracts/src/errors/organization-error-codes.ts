import type { ErrorRow } from './error-row.js';

/** Failures of organizations, their members, invitations and domains. */
export const ORGANIZATION_ERRORS = {
  'org.slug-taken': {
    status: 409,
    title: 'This address is taken',
    retry: 'never',
    nextStep: 'Choose another address. `suggestion` is available.',
  },
  'org.too-many': {
    status: 409,
    title: 'Organization limit reached',
    retry: 'never',
    nextStep: 'Delete an organization that you no longer need.',
  },
  'org.personal': {
    status: 409,
    title: 'This is not possible with a personal organization',
    retry: 'never',
    nextStep: 'Create an organization to share with others.',
  },
  'org.last-owner': {
    status: 409,
    title: 'An organization needs at least one owner',
    retry: 'never',
    nextStep: 'Make another member an owner first, or delete the organization.',
  },
  'org.being-deleted': {
    status: 409,
    title: 'The organization is being deleted',
    retry: 'never',
    nextStep: 'An owner can restore it until the time named in the detail.',
  },
  'org.sign-in-again': {
    status: 403,
    title: 'The organization requires a recent sign-in',
    retry: 'never',
    nextStep: 'Sign in again. Your other organizations are not affected.',
  },
  'org.second-factor-needed': {
    status: 403,
    title: 'The organization requires a second factor',
    retry: 'never',
    nextStep:
      'Sign in again with your second factor, or set one up where you sign in. Your other organizations are not affected.',
  },
  'member.changed': {
    status: 409,
    title: 'The member’s role has changed',
    retry: 'never',
    nextStep: 'Check the role named in the detail and decide again.',
  },
  'invitation.other-account': {
    status: 409,
    title: 'The invitation is for another email address',
    retry: 'never',
    nextStep: 'Sign in with the address named in the detail, or ask for an invitation to yours.',
  },
  'invitation.unverified': {
    status: 409,
    title: 'Your email address is not confirmed',
    retry: 'never',
    nextStep: 'Follow the link in your sign-up email, then sign in again.',
  },
  'invitation.expired': {
    status: 410,
    title: 'The invitation has expired',
    retry: 'never',
    nextStep: 'Ask the sender for a new invitation.',
  },
  'invitation.revoked': {
    status: 410,
    title: 'The invitation was revoked',
    retry: 'never',
    nextStep: 'Ask an admin of the organization.',
  },
  'invitation.used': {
    status: 410,
    title: 'The invitation was already used',
    retry: 'never',
    nextStep: 'Ask an admin of the organization for a new one.',
  },
  'invitation.too-many': {
    status: 409,
    title: 'Too many open invitations',
    retry: 'never',
    nextStep: 'Revoke invitations that are no longer needed.',
  },
  'invitation.mail-limit': {
    status: 429,
    title: 'Too many invitation emails',
    retry: 'later',
    nextStep:
      'Wait for the time in Retry-After. A new organization may send more after a week, or once it has verified a domain.',
  },
  'domain.public': {
    status: 422,
    title: 'Anyone can have an address of this domain',
    retry: 'never',
    nextStep: 'Claim a domain that belongs to your organization.',
  },
  'domain.taken': {
    status: 409,
    title: 'Another organization has verified this domain',
    retry: 'never',
    nextStep: 'Ask its admins to release the domain.',
  },
  'domain.too-many': {
    status: 409,
    title: 'Too many domains',
    retry: 'never',
    nextStep: 'Release a domain that you no longer need.',
  },
  'domain.not-verified': {
    status: 422,
    title: 'The DNS record was not found',
    retry: 'never',
    nextStep: 'Add the record shown for the domain. A new record may take up to an hour to be visible.',
  },
  'domain.lookup-failed': {
    status: 503,
    title: 'The DNS lookup failed',
    retry: 'later',
    nextStep: 'Try again in a moment. Nothing was changed.',
  },
  'security.second-factor-first': {
    status: 409,
    title: 'You have not signed in with a second factor yourself',
    retry: 'never',
    nextStep: 'Sign in again with your second factor, so that the rule cannot lock you out. Then turn it on.',
  },
} as const satisfies Record<string, ErrorRow>;
