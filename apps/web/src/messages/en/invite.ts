export const invite = {
  invitationNotFound: 'Invitation not found',
  theLinkMayBeIncomplete:
    'The link may be incomplete or outdated. Use the link from the latest email, or ask the sender for a new one.',
  join: 'Join {orgName}',
  invitesYouTo: '{invitedBy} invites you to <b>{orgName}</b>.',
  sentTo: 'Sent to',
  signInOrCreateAn: 'Sign in or create an account with {maskedEmail}.',
  signInToAccept: 'Sign in to accept',
  anotherAccount: 'another account',
  wrongAccount: 'Wrong account',
  youAreSignedInAs:
    'You are signed in as <b>{account}</b>, but the invitation is for {maskedEmail}. Switch to that account, or ask {invitedBy} to invite this one.',
  yourEmailAddressIsNot: 'Your email address is not confirmed',
  youAreSignedInAsFollow:
    'You are signed in as <b>{account}</b>. Follow the link in your sign-up email, sign in again, and reopen this invitation.',
  invitationAlreadyUsed: 'Invitation already used',
  someoneHasAlreadyJoinedWith:
    'Someone has already joined {orgName} with it. If that was not you, ask {invitedBy} for a new one.',
  invitationRevoked: 'Invitation revoked',
  thisInvitationIsNoLonger:
    'This invitation is no longer valid. Ask {invitedBy} or another admin of {orgName} for a new one.',
  invitationExpired: 'Invitation expired',
  itWasValidUntilAsk: 'It was valid until {expiresAt}. Ask {invitedBy} for a new one.',
  goToSlipway: 'Go to Slipway',
} as const;
