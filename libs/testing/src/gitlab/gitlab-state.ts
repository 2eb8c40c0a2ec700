import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { BareRepository } from '../bare-repository.js';
import { HookSending } from './hook-sending.js';
import type { GitLabDiscussion, GitLabNote, GitLabProject, GitLabThread, GitLabToken, GitLabUser } from './model.js';
import { issueEvent, mergeRequestEvent, noteEvent, pipelineEvent } from './payloads.js';

export const DEVELOPER = 30;
export const MAINTAINER = 40;

export interface NewProject {
  readonly path: string;
  readonly owner: GitLabUser;
  readonly visibility?: GitLabProject['visibility'];
  /** Path → text, in its first commit on `main`. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface NewNote {
  readonly body: string;
  readonly author: GitLabUser;
  readonly internal?: boolean;
  readonly position?: { readonly path: string; readonly line: number };
  /** Answers there [a discussion of its own]. */
  readonly discussion?: GitLabDiscussion;
}

/** What it holds, and what happens in it; each change sends its webhooks. */
export abstract class GitLabState {
  readonly projects: GitLabProject[] = [];
  readonly users: GitLabUser[] = [];
  readonly tokens = new Map<string, GitLabToken>();
  readonly sending = new HookSending();
  /** An older one takes signing tokens without a word, and does not sign. */
  signsWebhooks = true;
  private ids = 100;

  constructor(protected readonly folder: string) {}

  abstract get url(): string;

  nextId(): number {
    this.ids += 1;
    return this.ids;
  }

  user(username: string): GitLabUser {
    const made = { id: this.nextId(), username };
    this.users.push(made);
    return made;
  }

  /** @param scopes of GitLab, such as `api`. */
  token(user: GitLabUser, ...scopes: readonly string[]): string {
    const made = `glpat-${randomBytes(12).toString('hex')}`;
    this.tokens.set(made, { user, scopes });
    return made;
  }

  async project({ path: at, owner, visibility = 'private', files = {} }: NewProject): Promise<GitLabProject> {
    const made: GitLabProject = {
      ...{ id: this.nextId(), path: at, visibility },
      repository: await BareRepository.make(path.join(this.folder, `${at}.git`), files),
      members: new Map([[owner.id, 50]]),
      ...{ threads: [], statuses: [], hooks: [], approvalsRequired: 0, nextIid: { issues: 1, merge_requests: 1 } },
    };
    this.projects.push(made);
    return made;
  }

  openIssue(
    project: GitLabProject,
    made: Pick<GitLabThread, 'title' | 'author'> & Partial<Pick<GitLabThread, 'description' | 'confidential'>>,
  ): GitLabThread {
    const issue = this.thread(project, 'issues', {
      description: '',
      confidential: false,
      source: '',
      target: '',
      sourceProject: project.id,
      sha: null,
      ...made,
    });
    this.sending.send(
      project,
      issueEvent(this.url, project, issue, issue.author, { action: 'open' }),
      issue.confidential,
    );
    return issue;
  }

  openMergeRequest(
    project: GitLabProject,
    made: Pick<GitLabThread, 'title' | 'description' | 'author' | 'source' | 'target' | 'sha'> &
      Partial<Pick<GitLabThread, 'sourceProject'>>,
  ): GitLabThread {
    const merge = this.thread(project, 'merge_requests', { confidential: false, sourceProject: project.id, ...made });
    this.sending.send(project, mergeRequestEvent(this.url, project, merge, merge.author, { action: 'open' }));
    return merge;
  }

  label(project: GitLabProject, issue: GitLabThread, label: string, by: GitLabUser): void {
    const before = [...issue.labels];
    issue.labels.push(label);
    this.sending.send(
      project,
      issueEvent(this.url, project, issue, by, { action: 'update', labelsBefore: before }),
      issue.confidential,
    );
  }

  note(
    project: GitLabProject,
    on: GitLabThread,
    { body, author, internal = false, position, discussion }: NewNote,
  ): GitLabNote {
    const made: GitLabNote = {
      id: this.nextId(),
      body,
      author,
      createdAt: new Date().toISOString(),
      internal,
      position: position ?? null,
      resolved: false,
    };
    if (discussion === undefined) on.discussions.push({ id: randomBytes(20).toString('hex'), notes: [made] });
    else discussion.notes.push(made);
    this.sending.send(project, noteEvent(this.url, project, on, made), internal || on.confidential);
    return made;
  }

  approve(project: GitLabProject, merge: GitLabThread, by: GitLabUser): void {
    merge.approvals.push(by);
    this.sending.send(project, mergeRequestEvent(this.url, project, merge, by, { action: 'approved' }));
  }

  /** As CI or somebody's program says it. */
  status(
    project: GitLabProject,
    sha: string,
    said: {
      readonly name: string;
      readonly status: string;
      readonly description?: string;
      readonly targetUrl?: string;
    },
  ): void {
    const { name, status, description = '', targetUrl = null } = said;
    project.statuses.push({ id: this.nextId(), sha, name, status, description, targetUrl });
    const ref = project.threads.find((each) => each.kind === 'merge_requests' && each.sha === sha)?.source ?? 'main';
    this.sending.send(project, pipelineEvent(this.nextId(), project, { sha, ref, status }));
  }

  /** As GitLab itself does it, of whom it lets. */
  async merge(project: GitLabProject, merge: GitLabThread, by: GitLabUser): Promise<boolean> {
    const { repository } = project;
    const [base, head] = await Promise.all([
      repository.commitOf(`refs/heads/${merge.target}`),
      repository.commitOf(`refs/heads/${merge.source}`),
    ]);
    if (base === null || head === null) return false;
    const tree = await repository.mergedTree(base, head);
    if (tree === null) return false;
    merge.sha = head;
    const commit = await repository.merge(merge.target, { base, head, tree });
    merge.state = 'merged';
    merge.merged = { at: new Date().toISOString(), commit, base };
    this.sending.send(project, mergeRequestEvent(this.url, project, merge, by, { action: 'merge' }));
    return true;
  }

  private thread(
    project: GitLabProject,
    kind: GitLabThread['kind'],
    made: Pick<
      GitLabThread,
      'title' | 'description' | 'author' | 'confidential' | 'source' | 'target' | 'sourceProject' | 'sha'
    >,
  ): GitLabThread {
    const iid = project.nextIid[kind]++;
    const one: GitLabThread = {
      kind,
      id: this.nextId(),
      iid,
      state: 'opened',
      labels: [],
      discussions: [],
      awards: [],
      approvals: [],
      requestedChanges: [],
      createdAt: new Date().toISOString(),
      merged: null,
      ...made,
    };
    project.threads.push(one);
    return one;
  }
}
