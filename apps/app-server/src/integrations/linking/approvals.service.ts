import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { type Account, type Approval, type ProviderClient, ProviderRefusal } from '@slipway/integrations';
import { findPullRequest, listPullRequests, type PullRequestRow } from '@slipway/integrations/pull-requests';
import { auditOf } from '../../audit/audit-statement.js';
import { askersOf } from '../../conversations/confirmation/askers.queries.js';
import { findConversation } from '../../conversations/conversations.queries.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { approvalOf, externalUserIds } from './linked-accounts.queries.js';

/** What a consent is for. */
export interface WantedApproval {
  readonly pull: PullRequestRow & { readonly number: number };
  /** The commit that the user saw. */
  readonly headSha: string;
}

/**
 * Approvals of pull requests, as the user at the git host: never with the connection's own credential, which has opened
 * them. The rules hold when it is begun, and again when the user comes back, where the deed is done.
 */
@Injectable()
export class ApprovalsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly jobs: Jobs,
  ) {}

  /**
   * The pull request that may be approved.
   * @throws SlipwayError `resource.not-found`, `pull-request.ended`, `pull-request.moved`, `pull-request.not-linked`,
   * `pull-request.no-connection`, `conversation.four-eyes`.
   */
  begin(caller: Principal, conversationId: string, number: string, headSha: string): Promise<WantedApproval> {
    const { orgId } = caller;
    return inOrg(this.pool, orgId, async (client) => {
      if ((await findConversation(client, orgId, conversationId)) === null) throw notFound();
      const rows = await listPullRequests(client, orgId, conversationId);
      const wanted = wantedOf(rows.find((row) => String(row.number) === number) ?? null, headSha);
      if (wanted === null) throw notFound();
      await this.accountsOf(client, caller, wanted);
      return wanted;
    });
  }

  /** What a link request is for; `null`: for linking an account. @throws SlipwayError `resource.not-found` */
  of(orgId: string, requestId: string): Promise<WantedApproval | null> {
    return inOrg(this.pool, orgId, async (client) => {
      const approval = await approvalOf(client, orgId, requestId);
      if (approval === null) return null;
      const wanted = wantedOf(await findPullRequest(client, orgId, approval.pullRequestId), approval.headSha);
      if (wanted === null) throw notFound();
      return wanted;
    });
  }

  /**
   * Approves with the user's own token. @param account whose it is.
   * @throws SlipwayError as `begin`, `permission.denied`, `pull-request.own`,
   * `pull-request.consent-narrow`; ProviderRefusal.
   */
  async approve(
    caller: Principal,
    wanted: WantedApproval,
    {
      account,
      api,
      approval,
    }: { readonly account: Account; readonly api: ProviderClient; readonly approval: Approval },
  ): Promise<void> {
    const { orgId } = caller;
    const { pull, headSha } = wanted;
    if (!caller.permissions.has('pull-request:merge'))
      throw new SlipwayError('permission.denied', 'Your role has no right to approve pull requests any more.');
    await inOrg(this.pool, orgId, async (client) => {
      if (!(await this.accountsOf(client, caller, wanted)).includes(account.id))
        throw new SlipwayError(
          'pull-request.not-linked',
          `You consented as ${account.login}, and your linked account at ${pull.host} is another one.`,
        );
      const detail = { repository: `${pull.host}/${pull.repository}`, number: pull.number, sha: headSha };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'pull-request.approve', target: pull.conversationId, detail }),
      );
    });
    try {
      await approval.approve(api, { repository: pull.repository, number: pull.number }, headSha);
    } catch (error) {
      throw refusalOf(error, pull.host);
    }
    this.jobs.enqueueAs('pull-request', pull.id, { orgId, pullRequestId: pull.id });
  }

  /** The user's accounts at the host. @throws SlipwayError for what must not be approved by them, or not now. */
  private async accountsOf(
    client: PoolClient,
    { orgId, actor }: Principal,
    { pull, headSha }: WantedApproval,
  ): Promise<readonly string[]> {
    if (pull.state !== 'open')
      throw new SlipwayError('pull-request.ended', `Pull request ${pull.number} is ${pull.state}.`);
    if (pull.headSha !== headSha)
      throw new SlipwayError('pull-request.moved', `Its head is ${pull.headSha?.slice(0, 12) ?? 'not published'}.`);
    const { fourEyes } = await readOrgSettings(client, orgId);
    if (fourEyes && (await askersOf(client, orgId, pull.conversationId)).has(actor.id))
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization no user approves what an agent made for them: another user has to.',
      );
    const accounts = await externalUserIds(client, orgId, { ...pull, userId: actor.id });
    if (accounts.length === 0)
      throw new SlipwayError('pull-request.not-linked', `You have linked no account at ${pull.host}.`);
    return accounts;
  }
}

function wantedOf(row: PullRequestRow | null, headSha: string): WantedApproval | null {
  return row === null || row.number === null ? null : { pull: { ...row, number: row.number }, headSha };
}

/** What a host says to an author, and to a commit that is not the head. */
function refusalOf(error: unknown, host: string): unknown {
  if (!(error instanceof ProviderRefusal)) return error;
  if (/\b(your|their) own (pull|merge)\b/i.test(error.message))
    return new SlipwayError('pull-request.own', `You have opened it at ${host}, or the last commit is yours.`, {
      cause: error,
    });
  if (error.status === 409)
    return new SlipwayError('pull-request.moved', `${host} has a newer commit of it.`, { cause: error });
  // Gitea keeps the scope of the first consent, and asks for no wider one.
  if (error.kind === 'forbidden')
    return new SlipwayError('pull-request.consent-narrow', `${host} does not let your consent approve.`, {
      cause: error,
    });
  return error;
}
