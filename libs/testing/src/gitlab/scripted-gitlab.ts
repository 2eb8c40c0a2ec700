import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { BareRepository } from '../bare-repository.js';
import { runGitBackend } from '../git-server.js';
import { HookSending } from './hook-sending.js';
import type { GitLabDiscussion, GitLabNote, GitLabProject, GitLabThread, GitLabToken, GitLabUser } from './model.js';
import { issueEvent, mergeRequestEvent, noteEvent, pipelineEvent } from './payloads.js';
import { GitLabRoutes } from './routes.js';

export const DEVELOPER = 30;
export const MAINTAINER = 40;
const NOTHING = '0'.repeat(40);

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

/** The part of GitLab that we call, over real HTTP: its API, its webhooks, and git itself behind `git http-backend`. What it answers is taken from GitLab's documentation. */
export class ScriptedGitLab {
  readonly projects: GitLabProject[] = [];
  readonly users: GitLabUser[] = [];
  readonly tokens = new Map<string, GitLabToken>();
  readonly sending = new HookSending();
  /** `METHOD path` of each call, its path decoded. */
  readonly asked: string[] = [];
  /** Takes the place of every answer to such a call. */
  broken: { readonly calls: RegExp; readonly answer: (response: ServerResponse) => void } | null = null;
  /** An older one takes signing tokens without a word, and does not sign. */
  signsWebhooks = true;
  private ids = 100;
  private readonly routes = new GitLabRoutes(this);

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
  ) {}

  static async start(): Promise<ScriptedGitLab> {
    const server = createServer();
    const made = new ScriptedGitLab(server, await mkdtemp(path.join(os.tmpdir(), 'slipway-gitlab-')));
    server.on('request', (request, response) => {
      made.take(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500).end(JSON.stringify({ message: String(error) }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.sending.close();
    await rm(this.folder, { recursive: true, force: true });
  }

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

  openIssue(project: GitLabProject, made: Pick<GitLabThread, 'title' | 'author'> & Partial<Pick<GitLabThread, 'description' | 'confidential'>>): GitLabThread {
    const issue = this.thread(project, 'issues', {
      description: '',
      confidential: false,
      source: '',
      target: '',
      sourceProject: project.id,
      sha: null,
      ...made,
    });
    this.sending.send(project, issueEvent(this.url, project, issue, issue.author, { action: 'open' }), issue.confidential);
    return issue;
  }

  openMergeRequest(
    project: GitLabProject,
    made: Pick<GitLabThread, 'title' | 'description' | 'author' | 'source' | 'target' | 'sha'> & Partial<Pick<GitLabThread, 'sourceProject'>>,
  ): GitLabThread {
    const merge = this.thread(project, 'merge_requests', { confidential: false, sourceProject: project.id, ...made });
    this.sending.send(project, mergeRequestEvent(this.url, project, merge, merge.author, { action: 'open' }));
    return merge;
  }

  label(project: GitLabProject, issue: GitLabThread, label: string, by: GitLabUser): void {
    const before = [...issue.labels];
    issue.labels.push(label);
    this.sending.send(project, issueEvent(this.url, project, issue, by, { action: 'update', labelsBefore: before }), issue.confidential);
  }

  note(project: GitLabProject, on: GitLabThread, { body, author, internal = false, position, discussion }: NewNote): GitLabNote {
    const made: GitLabNote = { id: this.nextId(), body, author, createdAt: new Date().toISOString(), internal, position: position ?? null, resolved: false };
    if (discussion === undefined) on.discussions.push({ id: randomBytes(20).toString('hex'), notes: [made] });
    else discussion.notes.push(made);
    this.sending.send(project, noteEvent(this.url, project, on, made), internal || on.confidential);
    return made;
  }

  approve(project: GitLabProject, merge: GitLabThread, by: GitLabUser): void {
    merge.approvals.push(by);
    this.sending.send(project, mergeRequestEvent(this.url, project, merge, by, { action: 'approved' }));
  }

  /** As CI or a user's program reports it. */
  status(
    project: GitLabProject,
    sha: string,
    said: { readonly name: string; readonly status: string; readonly description?: string; readonly targetUrl?: string },
  ): void {
    const { name, status, description = '', targetUrl = null } = said;
    project.statuses.push({ id: this.nextId(), sha, name, status, description, targetUrl });
    const ref = project.threads.find((each) => each.kind === 'merge_requests' && each.sha === sha)?.source ?? 'main';
    this.sending.send(project, pipelineEvent(this.nextId(), project, { sha, ref, status }));
  }

  /** As GitLab itself does it, of whom it lets. */
  async merge(project: GitLabProject, merge: GitLabThread, by: GitLabUser): Promise<boolean> {
    const { repository } = project;
    const [base, head] = await Promise.all([repository.commitOf(`refs/heads/${merge.target}`), repository.commitOf(`refs/heads/${merge.source}`)]);
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
    made: Pick<GitLabThread, 'title' | 'description' | 'author' | 'confidential' | 'source' | 'target' | 'sourceProject' | 'sha'>,
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

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const call = `${request.method} ${decodeURIComponent(url.pathname)}`;
    this.asked.push(call);
    if (this.broken?.calls.test(call) === true) return this.broken.answer(response);
    if (url.pathname.startsWith('/api/v4/')) return this.routes.take(request, url, response);
    return this.git(request, url, response);
  }

  /** `/group/project.git/info/refs` and its like, with Basic credentials whose password is a token. */
  private async git(request: IncomingMessage, { pathname, search }: URL, response: ServerResponse): Promise<void> {
    const [, name, rest] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? [];
    const project = this.projects.find(({ path: at }) => at === name);
    const [, secret] = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':', 2);
    const token = this.tokens.get(secret ?? '');
    const writes = rest === 'git-receive-pack' || search.includes('git-receive-pack');
    const level = project === undefined || token === undefined ? 0 : (project.members.get(token.user.id) ?? 0);
    const scoped = token?.scopes.some((scope) => scope === 'api' || scope === 'write_repository' || (scope === 'read_repository' && !writes)) ?? false;
    if (token === undefined && (project?.visibility !== 'public' || writes))
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="GitLab"' }).end();
    if (project === undefined || (project.visibility !== 'public' && (level === 0 || !scoped))) return void response.writeHead(404).end();
    if (writes && (level < DEVELOPER || !scoped)) return void response.writeHead(403).end('You are not allowed to push code to this project.');
    const before = rest === 'git-receive-pack' ? await project.repository.branches() : null;
    const by = token?.user;
    if (before !== null && by !== undefined) response.once('finish', () => void this.pushed(project, before, by).catch(() => {}));
    runGitBackend({ directory: this.folder, pathname: `/${project.path}.git/${rest}`, search, user: by?.username ?? 'nobody' }, request, response);
  }

  private async pushed(project: GitLabProject, before: ReadonlyMap<string, string>, by: GitLabUser): Promise<void> {
    for (const [branch, sha] of await project.repository.branches()) {
      const oldrev = before.get(branch) ?? NOTHING;
      if (oldrev === sha) continue;
      for (const merge of project.threads)
        if (merge.kind === 'merge_requests' && merge.state === 'opened' && merge.source === branch && merge.sourceProject === project.id) {
          merge.sha = sha;
          this.sending.send(project, mergeRequestEvent(this.url, project, merge, by, { action: 'update', oldrev }));
        }
    }
  }
}
