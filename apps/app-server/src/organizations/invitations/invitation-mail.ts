import type { Role } from '@slipway/contracts/organizations';

/** Mail to an invited user. Names are others' words: they are cut to a line each and stand in plain text. */
export function invitationMail(invitation: {
  readonly to: string;
  readonly orgName: string;
  readonly inviter: string;
  readonly role: Role;
  readonly message: string | null;
  readonly link: string;
  readonly days: number;
}): { to: string; subject: string; text: string } {
  const { to, link, days, role } = invitation;
  const [org, inviter] = [oneLine(invitation.orgName), oneLine(invitation.inviter)];
  return {
    to,
    subject: `${inviter} invites you to ${org} on Slipway`,
    text: [
      `${inviter} invites you to work in ${org} on Slipway, as ${role}.`,
      ...(invitation.message === null || invitation.message === '' ? [] : [invitation.message.replaceAll(/^/gm, '> ')]),
      `Join with this link, signed in with the account of ${to}:`,
      link,
      `The link holds for ${days} days and for this address only. If you did not expect it, there is nothing to do.`,
    ].join('\n\n'),
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 100);
}
