import type { GiteaApi } from './gitea-api.js';

export interface GiteaIssue {
  readonly id: number;
  readonly number: number;
  readonly html_url: string;
  readonly labels: ReadonlyArray<{ readonly id: number; readonly name: string }>;
}

export interface GiteaPullRequest {
  readonly number: number;
  readonly title: string;
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly mergeable: boolean;
  readonly html_url: string;
  readonly head: { readonly ref: string; readonly sha: string };
  readonly base: { readonly ref: string; readonly sha: string };
}

export interface GiteaReview {
  readonly id: number;
  readonly state: string;
  readonly comments_count: number;
}

export interface NewReview {
  readonly verdict: 'APPROVED' | 'REQUEST_CHANGES' | 'COMMENT';
  readonly body?: string;
  /** Each at a line of the new side. */
  readonly comments?: ReadonlyArray<{ readonly path: string; readonly line: number; readonly body: string }>;
}

export type StatusState = 'pending' | 'success' | 'error' | 'failure' | 'warning';

/** Default events of a webhook: everything that an integration follows. */
const WEBHOOK_EVENTS = [
  'push',
  'issues',
  'issue_assign',
  'issue_label',
  'issue_comment',
  'pull_request',
  'pull_request_assign',
  'pull_request_label',
  'pull_request_comment',
  'pull_request_review',
  'pull_request_sync',
  'status',
];

/** One repository through the API, with the rights of who calls. */
export class GiteaRepository {
  constructor(
    private readonly api: GiteaApi,
    readonly owner: string,
    readonly name: string,
  ) {}

  /** @param path below `/repos/OWNER/NAME`. @throws GiteaRefusal. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.api.call(method, `/repos/${this.owner}/${this.name}${path}`, body);
  }

  /**
   * Makes or replaces files in one commit. @param newBranch made from `branch` for it [none: it goes to `branch`].
   * @returns its hash.
   */
  async commit(commit: {
    readonly message: string;
    readonly files: Readonly<Record<string, string>>;
    readonly branch?: string;
    readonly newBranch?: string;
  }): Promise<string> {
    const files = Object.entries(commit.files).map(([path, text]) => ({
      operation: 'upload',
      path,
      content: Buffer.from(text).toString('base64'),
    }));
    const answer = await this.call<{ commit: { sha: string } }>('POST', '/contents', {
      message: commit.message,
      branch: commit.branch ?? 'main',
      ...(commit.newBranch === undefined ? {} : { new_branch: commit.newBranch }),
      files,
    });
    return answer.commit.sha;
  }

  addCollaborator(login: string, permission: 'read' | 'write' | 'admin'): Promise<void> {
    return this.call('PUT', `/collaborators/${login}`, { permission });
  }

  createIssue(title: string, body = ''): Promise<GiteaIssue> {
    return this.call('POST', '/issues', { title, body });
  }

  createLabel(name: string, color = '#1f6feb'): Promise<{ readonly id: number; readonly name: string }> {
    return this.call('POST', '/labels', { name, color });
  }

  /** @param labels names of labels that are there. */
  addLabels(issue: number, labels: readonly string[]): Promise<ReadonlyArray<{ readonly name: string }>> {
    return this.call('POST', `/issues/${issue}/labels`, { labels });
  }

  /** On an issue or a pull request. */
  comment(issue: number, body: string): Promise<{ readonly id: number; readonly html_url: string }> {
    return this.call('POST', `/issues/${issue}/comments`, { body });
  }

  createWebhook(hook: {
    readonly url: string;
    readonly secret: string;
    readonly events?: readonly string[];
  }): Promise<{ readonly id: number }> {
    const config = { url: hook.url, secret: hook.secret, content_type: 'json' };
    return this.call('POST', '/hooks', { type: 'gitea', active: true, events: hook.events ?? WEBHOOK_EVENTS, config });
  }

  /** Refuses every push, of admins too. @param rule Gitea's own fields beside that, such as `required_approvals`. */
  protectBranch(branch: string, rule: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return this.call('POST', '/branch_protections', { rule_name: branch, enable_push: false, ...rule });
  }

  setStatus(
    sha: string,
    status: { readonly context: string; readonly state: StatusState; readonly description?: string },
  ): Promise<unknown> {
    return this.call('POST', `/statuses/${sha}`, status);
  }

  /** All statuses of a commit as one. */
  combinedStatus(ref: string): Promise<{ readonly state: StatusState; readonly total_count: number }> {
    return this.call('GET', `/commits/${ref}/status`);
  }

  openPullRequest(pull: {
    readonly title: string;
    readonly head: string;
    readonly base?: string;
    readonly body?: string;
  }): Promise<GiteaPullRequest> {
    return this.call('POST', '/pulls', { base: 'main', ...pull });
  }

  pullRequest(number: number): Promise<GiteaPullRequest> {
    return this.call('GET', `/pulls/${number}`);
  }

  /** The first 50. */
  pullRequests(state: 'open' | 'closed' | 'all' = 'open'): Promise<readonly GiteaPullRequest[]> {
    return this.call('GET', `/pulls?state=${state}&limit=50`);
  }

  review(number: number, { verdict, body = '', comments = [] }: NewReview): Promise<GiteaReview> {
    const lines = comments.map(({ path, line, body: text }) => ({
      path,
      body: text,
      new_position: line,
      old_position: 0,
    }));
    return this.call('POST', `/pulls/${number}/reviews`, { event: verdict, body, comments: lines });
  }

  reviewComments(
    number: number,
    review: number,
  ): Promise<ReadonlyArray<{ readonly id: number; readonly path: string; readonly body: string }>> {
    return this.call('GET', `/pulls/${number}/reviews/${review}/comments`);
  }

  /** @throws GiteaRefusal 405 when it may not be merged (yet). */
  merge(number: number, style: 'merge' | 'squash' | 'rebase' = 'merge'): Promise<void> {
    return this.call('POST', `/pulls/${number}/merge`, { Do: style });
  }
}
