import { Inject, Injectable } from '@nestjs/common';
import { Sessions, type SignedIn } from '@slipway/auth';
import { type ErrorCode } from '@slipway/contracts/errors';
import {
  type CreateInvitations,
  type InvitationOutcome,
  type InvitationOutcomes,
  type InvitationPage,
  type InvitationPreview,
  type ListInvitationsQuery,
  MAX_OPEN_INVITATIONS,
  type Org,
  type Principal,
  ROLE_PERMISSIONS,
  type Role,
  type SentInvitation,
} from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { readCursor, writeCursor } from '../../conversations/conversation-cursor.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { withdrawMail } from '../mail/mail.queries.js';
import { Mails } from '../mail/mails.js';
import { assertMayGrant, presentPermissions } from '../members/granting.js';
import { addMember, assertKept, lockOrg, type OrgRow, welcomeBack } from '../members/membership.queries.js';
import { readOrg } from '../orgs/orgs.queries.js';
import { maskEmail, normalEmail } from './email-address.js';
import { invitationMail } from './invitation-mail.js';
import { hashOfInvitationToken, makeInvitationToken } from './invitation-token.js';
import {
  countOpen,
  findInvitation,
  insertInvitation,
  type LockedInvitation,
  listInvitations,
  lockInvitation,
  markAccepted,
  memberEmails,
  openEmails,
  readInvitations,
  renewInvitation,
  revokeInvitation,
  setMail,
} from './invitations.queries.js';
import { holdsUnder, isOfRevokedKey, roleOfInviter } from './inviter-rights.queries.js';
import { assertMayMail } from './mail-limits.js';

/** An invitation holds this long. Days. */
const DAYS = 7;

/** Refusals that are recorded: requests beyond the limits. */
const LIMITED: ReadonlySet<ErrorCode> = new Set(['invitation.mail-limit', 'invitation.too-many']);
/** Of what was wanted, this many stand in the audit. */
const MAX_RECORDED = 10;

interface HandedInvitation {
  readonly org: OrgRow;
  readonly invitation: Pick<LockedInvitation, 'id' | 'email' | 'role' | 'message'>;
  readonly token: string;
}

/** Links that let one address join. What a link says and lets do is bound to the account of that address. */
@Injectable()
export class InvitationsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly mails: Mails,
    private readonly sessions: Sessions,
  ) {}

  list(caller: Principal, query: ListInvitationsQuery): Promise<InvitationPage> {
    const after = query.cursor === undefined ? null : readCursor(query.cursor);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const rows = await listInvitations(client, caller.orgId, { state: query.state, after, limit: query.limit + 1 });
      const data = rows.slice(0, query.limit);
      const last = data.at(-1);
      return { data, page: { nextCursor: rows.length > query.limit && last !== undefined ? writeCursor(last) : null } };
    });
  }

  /**
   * All or none of them are made; an address that cannot be invited is an outcome, no error. @throws SlipwayError
   * `invitation.too-many`, `invitation.mail-limit`, `org.personal`, `org.being-deleted`, `permission.denied`
   */
  async create(caller: Principal, body: CreateInvitations): Promise<InvitationOutcomes> {
    const answer = await this.recordingRefusals(caller, body.emails, async (client) => {
      const org = await this.inviting(client, caller, body.role);
      const emails = body.emails.map((typed) => ({ typed: typed.trim(), email: normalEmail(typed) }));
      const valid = emails.flatMap(({ email }) => email ?? []);
      if ((await countOpen(client, org.id)) + valid.length > MAX_OPEN_INVITATIONS)
        throw new SlipwayError(
          'invitation.too-many',
          `An organization has at most ${MAX_OPEN_INVITATIONS} open invitations.`,
        );
      const members = await memberEmails(client, org.id, valid);
      const open = await openEmails(client, org.id, valid);
      await this.assertMayMail(
        client,
        org.id,
        [...new Set(valid)].filter((email) => !members.has(email) && !open.has(email)),
      );
      const outcomes: Array<Omit<InvitationOutcome, 'invitation'> & { id: string | null }> = [];
      for (const { typed, email } of emails) {
        if (email === null || members.has(email))
          outcomes.push(without(email ?? typed, email === null ? 'invalid' : 'already-member'));
        else {
          const made = await this.invite(client, caller, org, {
            email,
            role: body.role,
            message: body.message ?? null,
          });
          outcomes.push(made === null ? without(email, 'already-invited') : { email, outcome: 'invited', ...made });
        }
      }
      const invitations = await readInvitations(
        client,
        org.id,
        outcomes.flatMap(({ id }) => id ?? []),
      );
      return {
        data: outcomes.map(({ id, ...outcome }) => ({
          ...outcome,
          invitation: id === null ? null : (invitations.get(id) ?? null),
        })),
      };
    });
    this.mails.nudge();
    return answer;
  }

  /**
   * @throws SlipwayError `invitation.used`, `invitation.revoked`, `invitation.mail-limit`, `org.being-deleted`,
   * `permission.denied`, `resource.not-found`
   */
  async resend(caller: Principal, id: string): Promise<SentInvitation> {
    const answer = await this.recordingRefusals(caller, [id], async (client) => {
      const { org, invitation } = await this.changing(client, caller, id);
      if (invitation.state === 'accepted') throw used();
      if (invitation.state === 'revoked') throw revoked();
      const { token, hash } = makeInvitationToken();
      await this.assertMayMail(client, org.id, [invitation.email]);
      if (invitation.mail_id !== null) await withdrawMail(client, org.id, invitation.mail_id);
      await renewInvitation(client, org.id, id, { tokenHash: hash, days: DAYS });
      const { link, sent } = await this.hand(client, caller, { org, invitation, token });
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'invitation.resend',
          target: id,
          detail: { email: invitation.email, role: invitation.role },
        }),
      );
      const renewed = (await readInvitations(client, org.id, [id])).get(id);
      if (renewed === undefined) throw notFound();
      return { invitation: renewed, link, sent };
    });
    this.mails.nudge();
    return answer;
  }

  /**
   * Again is harmless. @throws SlipwayError `invitation.used`, `org.being-deleted`, `permission.denied`,
   * `resource.not-found`
   */
  async revoke(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const { org, invitation } = await this.changing(client, caller, id);
      if (invitation.state === 'accepted') throw used();
      if (invitation.state === 'revoked') return;
      await revokeInvitation(client, org.id, id);
      if (invitation.mail_id !== null) await withdrawMail(client, org.id, invitation.mail_id);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'invitation.revoke',
          target: id,
          detail: { email: invitation.email, role: invitation.role },
        }),
      );
    });
  }

  /** @throws SlipwayError `resource.not-found` for every token that was not given out. */
  async read(user: SignedIn | null, token: string): Promise<InvitationPreview> {
    const found = await this.find(token);
    return {
      orgName: found.org_name,
      invitedBy: found.invited_by_label,
      role: found.role,
      state: found.state,
      expiresAt: found.expires_at.toISOString(),
      maskedEmail: maskEmail(found.email),
      account: user === null ? 'anonymous' : accountFor(user, found.email),
    };
  }

  /**
   * Joins. The same user again gets the same answer; two at once join once. A member already keeps the role that they
   * have.
   * @throws SlipwayError `invitation.other-account`, `invitation.unverified`, `invitation.expired`,
   * `invitation.revoked`, `invitation.used`, `org.being-deleted`, `resource.not-found` for every token that was not
   * given out.
   */
  async accept(user: SignedIn, token: string): Promise<Org> {
    const found = await this.find(token);
    const caller = { orgId: found.org_id, actor: { kind: 'user' as const, id: user.userId, label: user.name } };
    const org = await inOrg(this.pool, found.org_id, async (client) => {
      const org = await lockOrg(client, found.org_id);
      const invitation = org === null ? null : await lockInvitation(client, found.org_id, found.id);
      if (org === null || invitation === null) throw notFound();
      if (invitation.state !== 'accepted' || invitation.accepted_by !== user.userId) {
        assertHolds(invitation, user);
        // Removed or demoted since, also while an older replica did it, or deactivated: an inviter without the right
        // cannot admit users.
        if (!holdsUnder(await roleOfInviter(client, org.id, invitation.invited_by), invitation.role)) throw revoked();
        // Whoever has stolen a key must not come back by an invitation of it.
        if (await isOfRevokedKey(client, org.id, invitation.id)) throw revoked();
        assertKept(org);
        const joined = await addMember(client, org.id, {
          userId: user.userId,
          role: invitation.role,
          source: 'invitation',
        });
        await welcomeBack(client, org.id, user.userId);
        await markAccepted(client, org.id, invitation.id, user.userId);
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'invitation.accept',
            target: invitation.id,
            detail: { joined },
            ...(joined ? { after: { member: user.userId, role: invitation.role } } : {}),
          }),
        );
      }
      return readOrg(client, org.id, user.userId);
    });
    this.sessions.forget(user.sessionId);
    // Joined once, and removed since: the invitation is used up.
    if (org === null) throw used();
    return { ...org, permissions: [...ROLE_PERMISSIONS[org.role]] };
  }

  private async find(token: string): Promise<NonNullable<Awaited<ReturnType<typeof findInvitation>>>> {
    const hash = hashOfInvitationToken(token);
    const found = hash === null ? null : await findInvitation(this.pool, hash);
    if (found === null) throw notFound();
    return found;
  }

  private async inviting(client: PoolClient, caller: Principal, role: Role): Promise<OrgRow> {
    const org = await lockOrg(client, caller.orgId);
    if (org === null) throw notFound();
    if (org.kind === 'personal')
      throw new SlipwayError('org.personal', 'A personal organization has no other members.');
    assertKept(org);
    assertMayGrant(await presentPermissions(client, caller), role, 'member:invite');
    return org;
  }

  private async changing(
    client: PoolClient,
    caller: Principal,
    id: string,
  ): Promise<{ org: OrgRow; invitation: LockedInvitation }> {
    const org = await lockOrg(client, caller.orgId);
    const invitation = org === null ? null : await lockInvitation(client, caller.orgId, id);
    if (org === null || invitation === null) throw notFound();
    assertKept(org);
    assertMayGrant(await presentPermissions(client, caller), invitation.role, 'member:invite');
    return { org, invitation };
  }

  /**
   * As `inOrg`; a refusal by a limit is in the audit, in a transaction of its own, since that of the work is undone.
   * @param wanted addresses, or the id of an invitation.
   */
  private async recordingRefusals<T>(
    caller: Principal,
    wanted: readonly string[],
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    try {
      return await inOrg(this.pool, caller.orgId, work);
    } catch (error) {
      if (error instanceof SlipwayError && LIMITED.has(error.code)) {
        const detail = {
          code: error.code,
          reason: error.detail,
          wanted: wanted.slice(0, MAX_RECORDED),
          count: wanted.length,
        };
        const record = auditOf(this.ids.uuid(), caller, { action: 'invitation.refuse', target: caller.orgId, detail });
        await inOrg(this.pool, caller.orgId, (client) => client.query(record));
      }
      throw error;
    }
  }

  /** Where admins are given the links nothing is sent, and nothing counted. */
  private async assertMayMail(client: PoolClient, orgId: string, addresses: readonly string[]): Promise<void> {
    if (this.config.SMTP_URL !== undefined) await assertMayMail(client, orgId, addresses, this.config);
  }

  /** `null`: an invitation of this address is open. */
  private async invite(
    client: PoolClient,
    caller: Principal,
    org: OrgRow,
    wanted: { email: string; role: Role; message: string | null },
  ): Promise<{ id: string; link: string | null; sent: boolean } | null> {
    const { token, hash } = makeInvitationToken();
    const id = await insertInvitation(client, org.id, {
      id: this.ids.uuid(),
      ...wanted,
      tokenHash: hash,
      invitedBy: caller.actor,
      days: DAYS,
    });
    if (id === null) return null;
    const handed = await this.hand(client, caller, { org, invitation: { id, ...wanted }, token });
    await client.query(
      auditOf(this.ids.uuid(), caller, {
        action: 'invitation.create',
        target: id,
        after: { email: wanted.email, role: wanted.role },
      }),
    );
    return { id, ...handed };
  }

  /** By mail, or back to whoever asked. */
  private async hand(
    client: PoolClient,
    caller: Principal,
    { org, invitation, token }: HandedInvitation,
  ): Promise<{ link: string | null; sent: boolean }> {
    const link = new URL(`/invite/${token}`, this.config.PUBLIC_URL).href;
    const mail = invitationMail({
      ...invitation,
      to: invitation.email,
      orgName: org.name,
      inviter: caller.actor.label,
      link,
      days: DAYS,
    });
    const mailId = await this.mails.want(client, org.id, mail);
    if (mailId === null) return { link, sent: false };
    await setMail(client, org.id, invitation.id, mailId);
    return { link: null, sent: true };
  }
}

function without(
  email: string,
  outcome: InvitationOutcome['outcome'],
): Omit<InvitationOutcome, 'invitation'> & { id: null } {
  return { email, outcome, id: null, link: null, sent: false };
}

function accountFor(user: SignedIn, email: string): 'matches' | 'unverified' | 'other' {
  if (user.email?.toLowerCase() !== email) return 'other';
  return user.emailVerified ? 'matches' : 'unverified';
}

/** Ownership is checked first: the state of an invitation is visible only to its addressee. */
function assertHolds({ email, state }: LockedInvitation, user: SignedIn): void {
  const account = accountFor(user, email);
  if (account === 'other') {
    const maskedEmail = maskEmail(email);
    throw new SlipwayError(
      'invitation.other-account',
      `The invitation is for ${maskedEmail}; you are signed in as ${user.email ?? 'an account without an address'}.`,
      {
        extensions: { maskedEmail },
      },
    );
  }
  if (state === 'accepted') throw used();
  if (state === 'revoked') throw revoked();
  if (state === 'expired') throw new SlipwayError('invitation.expired', `An invitation holds for ${DAYS} days.`);
  if (account === 'unverified')
    throw new SlipwayError('invitation.unverified', `That ${email} is yours has not been confirmed.`);
}

const used = (): SlipwayError => new SlipwayError('invitation.used', 'It has been used already.');
const revoked = (): SlipwayError =>
  new SlipwayError('invitation.revoked', 'An admin of the organization has taken it back.');
