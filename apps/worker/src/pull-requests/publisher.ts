import { createHash } from 'node:crypto';
import type { AgentClient } from '@slipway/agent-client';
import type { BundleRequest } from '@slipway/contracts/repositories';
import type { SqlPool } from '@slipway/db/sql';
import { inOrg } from '@slipway/db/sql';
import { type Clock, type ReadSlot, ReadSlots } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import {
  baseUrlOf,
  type CodeHost,
  type CodeHostAccess,
  type FolderAt,
  GitRemote,
  type HostTree,
  ProviderRefusal,
  type PullRequestState,
  type ThreadSubject,
} from '@slipway/integrations';
import { findBot } from '@slipway/integrations/apps';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { ProviderDispatch } from '@slipway/integrations/dispatch';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';
import { BUNDLES, SandboxReads } from '../clients/sandbox-reads.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import { handledReplies, readyReplies } from '../integrations/answers/replies.queries.js';
import type { AskWriteAccess } from '../integrations/write-access.js';
import { BUNDLE_LIMITS } from './bundle/read-bundle.js';
import { type VerifiedBundle, verifyBundle } from './bundle/verify-bundle.js';
import { commandsRun, readCommands } from './checks-run.js';
import { Later } from './outcome.js';
import { nameOfProtected } from './protected-name.js';
import { changedProtectedPaths, listOf } from './protected-paths.js';
import { readTemplate } from './pull-request-template.js';
import {
  bindThread,
  type ConversationTexts,
  changePullRequest,
  type PullRequestChange,
  readLinkedAccount,
  readTexts,
  readThreadPlace,
} from './pull-requests.queries.js';
import { type Heads, standingCommits } from './standing-commits.js';
import { type Author, type BodyParts, bodyOf, branchName, commitMessage, titleOf } from './texts.js';

/** A git host as one connection calls it. */
export interface ConnectedHost {
  readonly calls: CodeHost;
  readonly access: CodeHostAccess;
  /** Never logged. */
  readonly token: string;
  readonly tokenId: string;
}

/** Where and as whom a pull request is worked on. */
export interface PublishPlace {
  readonly connection: StoredConnection;
  readonly host: ConnectedHost;
  readonly conversation: ConversationRow;
  readonly agent: AgentClient | null;
  readonly signal: AbortSignal;
}

type OwnParts = Pick<BodyParts, 'template' | 'checked'>;
/** Every changed file is read and packed. Milliseconds. */
const BUNDLE_TIMEOUT_MS = 150_000;
const NO_PARTS: OwnParts = { template: null, checked: '' };

interface Aim {
  readonly branch: string;
  readonly base: string;
  readonly pull: PullRequestState | null;
}

/**
 * Takes the branch out of the sandbox, pushes it with the connection's token, and opens or updates the pull request.
 * Every step may be repeated.
 */
export class Publisher {
  constructor(
    private readonly pool: SqlPool,
    private readonly dispatch: ProviderDispatch,
    private readonly askWriteAccess: AskWriteAccess,
    private readonly clock: Clock,
    private readonly reads = new SandboxReads(new ReadSlots(BUNDLES)),
  ) {}

  /**
   * One of an organization at a time. @throws SlipwayError `service.unavailable` when others are published: nothing was
   * done then; and as `publishOne`.
   */
  publish(row: PullRequestRow, place: PublishPlace): Promise<PullRequestChange> {
    return this.reads.inTurn(row.orgId, place.signal, (slot) => this.publishOne(row, place, slot));
  }

  /**
   * @returns what the row is to be; steps that must be known after a crash are written on the way. @throws
   * SlipwayError, ProviderRefusal, Later.
   */
  private async publishOne(row: PullRequestRow, place: PublishPlace, slot: ReadSlot): Promise<PullRequestChange> {
    const { conversation, agent, signal } = place;
    const { workingDir: directory, baseCommit } = conversation;
    if (directory === null || baseCommit === null)
      throw new SlipwayError('conversation.no-workspace', 'The repository is not cloned yet.');
    if (agent === null || conversation.sandboxStatus !== 'RUNNING')
      throw new SlipwayError('conversation.not-running', 'Its sandbox is paused, and the workspace with it.');
    // What they asked for is in the workspace as it is now.
    const replies = await inOrg(this.pool, row.orgId, (client) =>
      handledReplies(client, row.orgId, row.conversationId),
    );
    const [user, bot, texts] = await Promise.all([
      this.authorOf(row, place),
      this.botOf(row, place),
      readTexts(this.pool, row.orgId, row.conversationId),
    ]);
    // An app commits as itself, with the requester as co-author, so that the app's push cannot pass for one signed by
    // the user.
    const author = bot ?? user;
    const message = commitMessage(row.wanted.title ?? texts.title, bot === null ? undefined : user);
    const remote = this.remoteOf(row, place);
    // None of them changes anything, and each takes a while.
    const [aim, refs, bundle] = await Promise.all([
      this.aimOf(row, place, texts),
      remote.refs(),
      takeBundle(
        agent,
        { path: directory, base: baseCommit, author, message, max_bytes: BUNDLE_LIMITS.bytes },
        signal,
        slot,
      ).then((bytes) => verifyBundle(bytes, baseCommit, signal)),
    ]);
    const baseHead = refs.get(`refs/heads/${aim.base}`);
    if (baseHead === undefined)
      throw new SlipwayError('pull-request.host-refused', `${row.repository} has no branch ${aim.base}.`);
    const heads = { base: baseHead, branch: refs.get(`refs/heads/${aim.branch}`) ?? null };
    await this.assertProtectedAllowed(row, bundle, heads, place);
    const pushed = await this.push({ ...row, ...aim }, bundle, remote, refs);
    const pull = await this.pullRequest(
      { ...row, ...pushed },
      { ...aim, baseHead, known: refs.has(`refs/heads/${aim.branch}`) },
      texts,
      place,
    );
    const { number, url, title, draft } = pull;
    await inOrg(this.pool, row.orgId, async (client) => {
      await bindThread(client, row, place.connection.id, { ...pull.thread, url, title });
      await readyReplies(client, row.orgId, row.conversationId, { ids: replies, sha: pushed.headSha ?? null });
    });
    return {
      ...pushed,
      branch: aim.branch,
      base: aim.base,
      number,
      url,
      title,
      draft,
      state: pull.state,
      publishedAt: this.clock.now(),
    };
  }

  /**
   * For uncommitted changes. A user must have write access at the git host, as of now; a service account is what an
   * admin has made it.
   */
  private async authorOf(row: PullRequestRow, { connection, host, signal }: PublishPlace): Promise<Author> {
    const { by } = row.wanted;
    const name =
      by.label
        .replaceAll(/[<>\p{C}]+/gu, ' ')
        .trim()
        .slice(0, 200) || 'Slipway';
    if (by.kind !== 'user') return { name, email: `${by.id.replaceAll(/[^\w.-]/g, '')}@slipway.invalid` };
    const account = await this.assertMayWrite(row, by.id, connection, signal);
    return { name, email: host.access.noreply(account, connection.host) };
  }

  /** `null`: the connection is by no app. */
  private async botOf(row: PullRequestRow, { connection, host }: PublishPlace): Promise<Author | null> {
    const bot = await inOrg(this.pool, row.orgId, (client) => findBot(client, row.orgId, connection.id));
    return bot === null ? null : { name: bot.login, email: host.access.noreply(bot, connection.host) };
  }

  /**
   * @throws SlipwayError `pull-request.not-linked`, `pull-request.no-write-access`; Later when the git host does not
   * say.
   */
  async assertMayWrite(
    row: PullRequestRow,
    userId: string,
    connection: StoredConnection,
    signal: AbortSignal,
  ): Promise<{ id: string; login: string }> {
    const account = await readLinkedAccount(this.pool, row.orgId, userId, connection);
    if (account === null)
      throw new SlipwayError('pull-request.not-linked', `The user has linked no account at ${connection.host}.`);
    const answer = await this.askWriteAccess(
      row.orgId,
      connection,
      { repository: { fullName: row.repository }, actor: account },
      signal,
    );
    if (answer.access === 'later') throw new Later(answer.why, answer.at);
    if (answer.access !== 'write')
      throw new SlipwayError(
        'pull-request.no-write-access',
        answer.why ?? `${account.login} may not write to ${row.repository} at ${connection.host}.`,
      );
    return account;
  }

  /**
   * Branch and base: those of before; else of the pull request that the conversation is about; else a branch of its
   * own.
   */
  private async aimOf(
    row: PullRequestRow,
    { host, conversation, connection }: PublishPlace,
    texts: ConversationTexts,
  ): Promise<Aim> {
    const { calls } = host;
    if (row.number !== null && row.branch !== null && row.base !== null) {
      const pull = await calls.pullRequest({ repository: row.repository, number: row.number });
      assertOpen(pull);
      return { branch: row.branch, base: row.base, pull };
    }
    const about =
      row.branch === null && conversation.branch !== null ? await this.subjectOf(row, connection.id, host) : null;
    if (about !== null && about.kind !== 'issue') {
      const pull = await missingIsNull(calls.pullRequest({ repository: row.repository, number: about.number }));
      if (pull !== null && !pull.fork && pull.headBranch === conversation.branch) {
        assertOpen(pull);
        return { branch: pull.headBranch, base: pull.baseBranch, pull };
      }
    }
    const base =
      row.wanted.base ?? row.base ?? conversation.branch ?? (await calls.repository(row.repository)).defaultBranch;
    if (base === null)
      throw new SlipwayError('pull-request.host-refused', `${row.repository} has no branch to begin from.`);
    return { branch: row.branch ?? branchName(row.conversationId, texts.title), base, pull: null };
  }

  /**
   * A permission is for the changes that were seen, where it names them. @throws SlipwayError
   * `pull-request.protected-paths`, with the name of those of now.
   */
  private async assertProtectedAllowed(
    { repository, wanted }: PullRequestRow,
    bundle: VerifiedBundle,
    heads: Heads,
    { host }: PublishPlace,
  ): Promise<void> {
    if (wanted.allowProtectedPaths && wanted.protectedChanges === undefined) return;
    const { calls } = host;
    const standing = standingCommits(bundle, heads, (commit, of) => calls.isAncestor(repository, commit, of));
    const treeOf = (folder: FolderAt): Promise<HostTree> => calls.tree(repository, folder);
    const changed = await changedProtectedPaths(bundle, standing, treeOf);
    if (changed.length === 0) return;
    const protectedChanges = await nameOfProtected(bundle, changed, treeOf);
    if (wanted.allowProtectedPaths && wanted.protectedChanges === protectedChanges) return;
    const since = wanted.allowProtectedPaths ? ' The agent has changed them since they were allowed.' : '';
    throw new SlipwayError('pull-request.protected-paths', `The changes touch ${listOf(changed)}.${since}`, {
      extensions: { protectedChanges },
    });
  }

  private remoteOf(row: PullRequestRow, { connection, host, signal }: PublishPlace): GitRemote {
    return new GitRemote({
      url: `${baseUrlOf(connection)}/${row.repository}.git`,
      authorization: `Basic ${Buffer.from(`${host.access.gitUser}:${host.token}`).toString('base64')}`,
      dispatch: (url, request) => this.dispatch.send(url, request, signal),
      now: () => this.clock.now(),
    });
  }

  private async push(
    row: PullRequestRow & Aim,
    bundle: VerifiedBundle,
    remote: GitRemote,
    refs: ReadonlyMap<string, string>,
  ): Promise<PullRequestChange> {
    const { orgId, id, branch } = row;
    const current = refs.get(`refs/heads/${branch}`) ?? null;
    const content = createHash('sha256')
      .update([bundle.tree, ...bundle.parents].join(' '))
      .digest('hex');
    if (current !== null && current === row.pushedSha && content === row.content) return { headSha: current };
    // Only our own pushes are replaced; commits of others must be among the commits that the branch stands on.
    const ours = current === null || current === row.pushedSha || current === row.pushingSha || current === bundle.head;
    if (!ours && !bundle.standsOn(current))
      throw new SlipwayError(
        'pull-request.branch-moved',
        `${branch} is at ${current.slice(0, 12)}, which the branch of the workspace does not continue.`,
      );
    await inOrg(this.pool, orgId, (client) =>
      changePullRequest(client, orgId, id, { branch, base: row.base, pushingSha: bundle.head }),
    );
    if (current !== bundle.head) await remote.push({ branch, from: current, to: bundle.head, pack: bundle.pack });
    const pushed = { headSha: bundle.head, pushedSha: bundle.head, content, pushingSha: null };
    await inOrg(this.pool, orgId, (client) => changePullRequest(client, orgId, id, pushed));
    return pushed;
  }

  private async pullRequest(
    row: PullRequestRow,
    { branch, base, baseHead, pull, known }: Aim & { baseHead: string; known: boolean },
    texts: ConversationTexts,
    { host }: PublishPlace,
  ): Promise<PullRequestState> {
    const { calls } = host;
    const { wanted, repository } = row;
    // One whose creation was not answered, or that a user made by hand. A new branch has none.
    const found = pull ?? (known ? await calls.findPullRequest(repository, { head: branch, base }) : null);
    if (found === null) {
      const title = titleOf(wanted.title ?? texts.title);
      const issue = await this.issueOf(row, host);
      const own = wanted.body === undefined ? await this.ownParts(row, baseHead, host) : NO_PARTS;
      const body = bodyOf({
        ...own,
        given: wanted.body,
        said: texts.said,
        issue,
        page: wanted.page,
        conversationId: row.conversationId,
      });
      return this.create(row, { head: branch, base, title, body, draft: wanted.draft }, host);
    }
    if (wanted.title === undefined && wanted.body === undefined) return found;
    const given = {
      ...NO_PARTS,
      given: wanted.body,
      said: null,
      issue: null,
      page: wanted.page,
      conversationId: row.conversationId,
    };
    const body = wanted.body === undefined ? {} : { body: bodyOf(given) };
    return calls.updatePullRequest(
      { repository, number: found.number },
      { ...(wanted.title === undefined ? {} : { title: titleOf(wanted.title) }), ...body },
    );
  }

  /**
   * What the repository asks of pull requests, at the commit that this one is to be merged into, and what the agent
   * ran.
   */
  private async ownParts(
    { orgId, conversationId, repository }: PullRequestRow,
    baseHead: string,
    { calls, access, token }: ConnectedHost,
  ): Promise<OwnParts> {
    const template = await readTemplate(calls, repository, baseHead, access.pullRequestTemplates);
    const commands = await inOrg(this.pool, orgId, (client) => readCommands(client, orgId, conversationId));
    return { template, checked: commandsRun(commands, [token]) };
  }

  /** The issue whose thread the conversation belongs to; `null` for none, and for a pull request. */
  private async issueOf(row: PullRequestRow, host: ConnectedHost): Promise<number | null> {
    const { connectionId, repository } = row;
    const about = connectionId === null ? null : await this.subjectOf(row, connectionId, host);
    if (about === null || about.kind === 'pull-request') return null;
    const { number } = about;
    return about.kind === 'issue' || (await missingIsNull(host.calls.pullRequest({ repository, number }))) === null
      ? number
      : null;
  }

  /** What the thread that the conversation came from is about; `null`: it came from none of this connection. */
  private async subjectOf(
    { orgId, conversationId }: PullRequestRow,
    connectionId: string,
    { access }: ConnectedHost,
  ): Promise<ThreadSubject | null> {
    const place = await readThreadPlace(this.pool, orgId, conversationId, connectionId);
    return place === null ? null : access.subjectOf(place);
  }

  private async create(
    row: PullRequestRow,
    made: Parameters<ConnectedHost['calls']['createPullRequest']>[1],
    host: ConnectedHost,
  ): Promise<PullRequestState> {
    const { calls } = host;
    try {
      return await calls.createPullRequest(row.repository, made);
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error;
      // Another was quicker, or ours was made after all.
      if (error.kind === 'conflict') {
        const found = await calls.findPullRequest(row.repository, made);
        if (found !== null) return found;
      }
      // Not every plan has drafts.
      if (error.kind === 'invalid' && made.draft && /draft/i.test(error.message))
        return calls.createPullRequest(row.repository, { ...made, draft: false });
      throw error;
    }
  }
}

function assertOpen({ state, number }: PullRequestState): void {
  if (state !== 'open') throw new SlipwayError('pull-request.ended', `Pull request ${number} is ${state}.`);
}

async function missingIsNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProviderRefusal && error.kind === 'missing') return null;
    throw error;
  }
}

/** @throws SlipwayError `pull-request.too-large` also for an answer that is larger than the sandbox was asked for. */
async function takeBundle(
  agent: AgentClient,
  body: BundleRequest,
  signal: AbortSignal,
  slot: ReadSlot,
): Promise<Buffer> {
  try {
    return await agent.bytes(
      'bundle',
      { body },
      { timeoutMs: BUNDLE_TIMEOUT_MS, maxBytes: body.max_bytes, signal, slot },
    );
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.code !== 'file.too-large') throw error;
    throw new SlipwayError(
      'pull-request.too-large',
      `The changes are larger than ${Math.floor(body.max_bytes / 1024 / 1024)} MiB.`,
      { cause: error },
    );
  }
}
