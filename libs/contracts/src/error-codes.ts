import { SANDBOX_ERRORS } from './sandbox-error-codes.js';

/** What kind of failure a code is: the docs page, the SDK's union and `problem+json` are all made from this table. */
export interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /** `later`: the same request may succeed if repeated. `never`: change something first. */
  readonly retry: 'never' | 'later';
  /** What a person does about it, in one sentence. */
  readonly nextStep: string;
}

/** Every failure that leaves a process has a code here. Add a row; docs/errors/ is generated from it. */
export const ERRORS = {
  'request.invalid': { status: 400, title: 'The request is not valid', retry: 'never', nextStep: 'Correct the fields that are listed and send it again.' },
  'request.not-json': { status: 400, title: 'The body is not JSON', retry: 'never', nextStep: 'Send a JSON body with content-type application/json.' },
  'request.too-large': { status: 413, title: 'The body is too large', retry: 'never', nextStep: 'Send less; put large content into a file of the repository.' },
  'request.cross-site': {
    status: 403,
    title: 'The request came from another site',
    retry: 'never',
    nextStep: 'Call the API from its own origin, or use an API key instead of the cookie.',
  },
  'auth.missing': { status: 401, title: 'Sign in or send an API key', retry: 'never', nextStep: 'Sign in again.' },
  'auth.unavailable': {
    status: 503,
    title: 'The sign-in service does not answer',
    retry: 'later',
    nextStep: 'Wait a moment and try again; people already signed in are not affected.',
  },
  'auth.sign-in-failed': { status: 400, title: 'The sign-in did not complete', retry: 'never', nextStep: 'Start the sign-in again.' },
  'account.email-unverified': {
    status: 403,
    title: 'Your e-mail address is not verified',
    retry: 'never',
    nextStep: 'Open the link in the message that was sent to you, or have it sent again; then sign in again.',
  },
  'account.terms-required': {
    status: 403,
    title: 'The terms have not been accepted',
    retry: 'never',
    nextStep: 'Read the terms of this installation and accept them.',
  },
  'account.deactivated': {
    status: 403,
    title: 'Your account is deactivated',
    retry: 'never',
    nextStep: 'Ask an admin of your organization.',
  },
  'account.terms-changed': {
    status: 409,
    title: 'The terms have changed meanwhile',
    retry: 'never',
    nextStep: 'Read the present version and accept that.',
  },
  'auth.session-needed': {
    status: 403,
    title: 'This is for a signed-in person',
    retry: 'never',
    nextStep: 'Sign in with a browser; no API key can do it.',
  },
  'permission.denied': {
    status: 403,
    title: 'Your role does not allow this',
    retry: 'never',
    nextStep: 'Ask an admin of the organization for the permission that is named.',
  },
  'resource.not-found': {
    status: 404,
    title: 'There is no such resource',
    retry: 'never',
    nextStep: 'Check the address; it may have been deleted, or belong to another organization.',
  },
  'idempotency.mismatch': {
    status: 422,
    title: 'This idempotency key was used with another body',
    retry: 'never',
    nextStep: 'Use a new key for a new request.',
  },
  'idempotency.in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    retry: 'later',
    nextStep: 'Wait for it; the same key then answers with its result.',
  },
  'rate.limited': { status: 429, title: 'Too many requests', retry: 'later', nextStep: 'Wait for the time in Retry-After.' },
  'api-key.scope-too-wide': {
    status: 422,
    title: 'The key would be able to do more than you',
    retry: 'never',
    nextStep: 'Leave out the scopes that the detail names, or ask somebody who has them to make the key.',
  },
  'api-key.not-live': {
    status: 409,
    title: 'The key is used up',
    retry: 'never',
    nextStep: 'Make a new key; one that is revoked or expired stays so.',
  },
  'api-key.limit': {
    status: 409,
    title: 'The owner has as many keys as can be',
    retry: 'never',
    nextStep: 'Revoke keys that are not needed any more.',
  },
  'service-account.role-too-high': {
    status: 422,
    title: 'The service account would have a higher role than you',
    retry: 'never',
    nextStep: 'Choose a role that is at most your own, or ask somebody who has a higher one.',
  },
  'service-account.limit': {
    status: 409,
    title: 'The organization has as many service accounts as can be',
    retry: 'never',
    nextStep: 'Delete service accounts that are not needed any more.',
  },
  'conversation.nothing-to-confirm': {
    status: 409,
    title: 'Nothing waits for this answer',
    retry: 'never',
    nextStep: 'Look at the conversation: somebody else has answered, or the agent was stopped.',
  },
  'conversation.awaits-confirmation': {
    status: 409,
    title: 'The agent waits for a yes or a no',
    retry: 'never',
    nextStep: 'Approve or reject what it asks for; a message rejects it, too.',
  },
  'conversation.busy': { status: 409, title: 'The conversation is running', retry: 'later', nextStep: 'Stop it first, or wait until it has finished.' },
  'conversation.not-running': { status: 409, title: 'The conversation is not running', retry: 'never', nextStep: 'Send a message to start it again.' },
  'conversation.queue-full': {
    status: 429,
    title: 'Too many messages are waiting',
    retry: 'later',
    nextStep: 'Wait until the agent has taken some of them in.',
  },
  'conversation.no-workspace': {
    status: 409,
    title: 'There is no workspace to read',
    retry: 'later',
    nextStep: 'Wait until the sandbox has started, or resume the conversation.',
  },
  'ingest.stale-epoch': {
    status: 409,
    title: 'Another sandbox owns this conversation now',
    retry: 'never',
    nextStep: 'Stop writing; a newer sandbox has taken over.',
  },
  'ingest.gap': { status: 409, title: 'A batch is missing before this one', retry: 'never', nextStep: 'Send again from the position in the answer.' },
  ...SANDBOX_ERRORS,
  'model.auth': { status: 401, title: 'The model provider refused the key', retry: 'never', nextStep: 'Correct LLM_API_KEY.' },
  'model.quota': { status: 402, title: 'The model provider says the credit is used up', retry: 'never', nextStep: 'Add credit at the provider.' },
  'model.rate-limited': { status: 429, title: 'The model provider limits the rate', retry: 'later', nextStep: 'It is tried again by itself.' },
  'model.unavailable': {
    status: 502,
    title: 'The model does not answer',
    retry: 'later',
    nextStep: 'It is tried again by itself; then send a message to go on.',
  },
  'model.timeout': { status: 504, title: 'The model took too long', retry: 'later', nextStep: 'Send a message to try again.' },
  'model.bad-response': {
    status: 502,
    title: 'The model answered something that is not a completion',
    retry: 'later',
    nextStep: 'Send a message to try again, or choose another model.',
  },
  'model.unknown': { status: 404, title: 'There is no such model', retry: 'never', nextStep: 'Choose a model from GET /v1/models.' },
  'model.profile-missing': {
    status: 409,
    title: 'The model profile of the conversation is gone',
    retry: 'never',
    nextStep: 'Give the conversation another model, or ask an admin to make a profile of that name; then send a message.',
  },
  'model.context-exceeded': {
    status: 400,
    title: 'The conversation is longer than the model can read',
    retry: 'never',
    nextStep: 'Start a new conversation, or choose a model with a larger context.',
  },
  'model.content-policy': {
    status: 400,
    title: "The model's provider refuses this content",
    retry: 'never',
    nextStep: 'Say it in other words, or choose another model.',
  },
  'agent.iteration-limit': { status: 409, title: 'The agent used all its steps', retry: 'never', nextStep: 'Send a message to let it go on.' },
  'agent.stuck': { status: 409, title: 'The agent repeats itself', retry: 'never', nextStep: 'Send a message that tells it what to do differently.' },
  'settings.changed': {
    status: 412,
    title: 'The settings were changed meanwhile',
    retry: 'never',
    nextStep: 'Read them again and apply your change to what is there now.',
  },
  'org.slug-taken': {
    status: 409,
    title: 'This address is taken',
    retry: 'never',
    nextStep: 'Choose another; `suggestion` is one that is free.',
  },
  'org.too-many': { status: 409, title: 'You own as many organizations as you may', retry: 'never', nextStep: 'Delete one that you no longer need.' },
  'org.personal': {
    status: 409,
    title: 'This is not possible with a personal organization',
    retry: 'never',
    nextStep: 'Make a company organization for what is shared with others.',
  },
  'org.last-owner': {
    status: 409,
    title: 'An organization keeps at least one owner',
    retry: 'never',
    nextStep: 'Make another member an owner first, or delete the organization.',
  },
  'org.being-deleted': {
    status: 409,
    title: 'The organization is being deleted',
    retry: 'never',
    nextStep: 'An owner can take the deletion back until the time that the detail names.',
  },
  'org.sign-in-again': {
    status: 403,
    title: 'The organization asks you to sign in again',
    retry: 'never',
    nextStep: 'Sign in again; your other organizations are not affected.',
  },
  'org.second-factor-needed': {
    status: 403,
    title: 'The organization asks for a second factor',
    retry: 'never',
    nextStep: 'Sign in again with your second factor, or set one up where you sign in; your other organizations are not affected.',
  },
  'member.changed': {
    status: 409,
    title: 'The member was changed meanwhile',
    retry: 'never',
    nextStep: 'Look at the role that the detail names, and decide again.',
  },
  'invitation.other-account': {
    status: 409,
    title: 'The invitation is for another e-mail address',
    retry: 'never',
    nextStep: 'Sign in with the account of the address that the detail names, or ask for an invitation to yours.',
  },
  'invitation.unverified': {
    status: 409,
    title: 'Your e-mail address is not confirmed',
    retry: 'never',
    nextStep: 'Follow the link in the mail that you got when you signed up, then sign in again.',
  },
  'invitation.expired': { status: 410, title: 'The invitation has expired', retry: 'never', nextStep: 'Ask whoever invited you to send it again.' },
  'invitation.revoked': { status: 410, title: 'The invitation was taken back', retry: 'never', nextStep: 'Ask an admin of the organization.' },
  'invitation.used': { status: 410, title: 'The invitation was used', retry: 'never', nextStep: 'Ask an admin of the organization for a new one.' },
  'invitation.too-many': {
    status: 409,
    title: 'Too many invitations wait for an answer',
    retry: 'never',
    nextStep: 'Take back those that nobody will answer.',
  },
  'domain.public': {
    status: 422,
    title: 'Everybody can have an address of this domain',
    retry: 'never',
    nextStep: 'Claim a domain that belongs to your organization.',
  },
  'domain.taken': {
    status: 409,
    title: 'Another organization has proved that the domain is its own',
    retry: 'never',
    nextStep: 'Ask its admins to give the domain up.',
  },
  'domain.too-many': { status: 409, title: 'Too many domains', retry: 'never', nextStep: 'Give one up that you no longer need.' },
  'domain.not-verified': {
    status: 422,
    title: 'The DNS record is not there',
    retry: 'never',
    nextStep: 'Set the record that the domain shows; it may take up to an hour until it is seen everywhere.',
  },
  'domain.lookup-failed': {
    status: 503,
    title: 'The DNS does not answer',
    retry: 'later',
    nextStep: 'Try again in a moment; nothing was changed.',
  },
  'security.second-factor-first': {
    status: 409,
    title: 'You have not signed in with a second factor yourself',
    retry: 'never',
    nextStep: 'Sign in again with your second factor, so that it is sure that the rule does not shut you out; then switch it on.',
  },
  'secret.name-taken': {
    status: 409,
    title: 'There is a secret with this name for the same receivers',
    retry: 'never',
    nextStep: 'Change the one that is there, or choose another name.',
  },
  'secret.too-many': { status: 409, title: 'There are as many secrets as can be', retry: 'never', nextStep: 'Delete secrets that are not needed any more.' },
  'secret.not-allowed': {
    status: 403,
    title: 'The organization does not let members bring secrets of their own',
    retry: 'never',
    nextStep: 'Ask an admin to keep the secret, or to allow it in the settings of the organization.',
  },
  'secret.unreadable': {
    status: 503,
    title: 'A secret cannot be opened',
    retry: 'later',
    nextStep: 'An operator checks ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS of worker; it is tried again by itself.',
  },
  'secret.too-large': {
    status: 422,
    title: 'The secrets of the conversation are too large together',
    retry: 'never',
    nextStep: 'Delete secrets that it does not need, or give them to fewer conversations.',
  },
  'settings.name-taken': {
    status: 409,
    title: 'There is one with this name',
    retry: 'never',
    nextStep: 'Change the one that is there, or choose another name.',
  },
  'settings.too-many': { status: 409, title: 'There are as many as can be', retry: 'never', nextStep: 'Delete some that are not needed any more.' },
  'settings.url-refused': {
    status: 422,
    title: 'Slipway does not call this address',
    retry: 'never',
    nextStep: 'Use https and a host with a public address.',
  },
  'budget.exhausted': {
    status: 402,
    title: 'The budget is used up',
    retry: 'never',
    nextStep: 'Wait until the budget begins again, or ask an admin to raise it; the detail says whose it is and when that is.',
  },
  'config.invalid': { status: 500, title: 'The configuration is not valid', retry: 'never', nextStep: 'Correct the variables that are listed.' },
  'service.unavailable': { status: 503, title: 'A part of the system does not answer', retry: 'later', nextStep: 'Wait a moment and try again.' },
  'internal.unexpected': {
    status: 500,
    title: 'Something broke on our side',
    retry: 'later',
    nextStep: 'Try again; if it stays, quote the request id to support.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
