import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { MintedToken, ScriptedAccount, ScriptedGitHub } from '@slipway/integrations/testing';
import { BareRepository, runGitBackend } from '@slipway/testing';

export interface HostedComment {
  readonly id: number;
  readonly on: number;
  body: string;
}

export interface HostedPull {
  readonly id: number;
  readonly number: number;
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  title: string;
  body: string;
  state: 'open' | 'closed';
  merged: boolean;
}

interface Hosted {
  readonly id: number;
  readonly fullName: string;
  readonly repository: BareRepository;
  readonly writers: ReadonlyMap<string, ScriptedAccount>;
}

/** One call of the API by a token that may see the repository. */
interface Call {
  readonly at: Hosted;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}
type Answer = readonly [status: number, body: unknown];
type Route = readonly [at: RegExp, needs: string, answer: (call: Call) => Answer | Promise<Answer>];

const AT = '2026-11-26T09:00:00Z';
const RANK = ['read', 'write', 'admin'];

/**
 * Repositories, issues and pull requests of the scripted GitHub, with real git. A call is answered by the rights and
 * repositories of its installation token alone.
 */
export class GitHubRepositories {
  readonly comments: HostedComment[] = [];
  readonly pulls: HostedPull[] = [];
  readonly reactions: string[] = [];
  /** Calls and pushes by what they were made with: `write owner/name`. */
  readonly refused: string[] = [];
  private readonly hosted = new Map<string, Hosted>();
  private count = 50_000;
  private number = 12;

  private readonly github: ScriptedGitHub;
  private readonly folder: string;

  private constructor(github: ScriptedGitHub, folder: string) {
    this.github = github;
    this.folder = folder;
  }

  static async of(github: ScriptedGitHub): Promise<GitHubRepositories> {
    return new GitHubRepositories(github, await mkdtemp(path.join(os.tmpdir(), 'slipway-github-')));
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async add(
    fullName: string,
    files: Readonly<Record<string, string>>,
    writers: readonly ScriptedAccount[],
  ): Promise<void> {
    const repository = await BareRepository.make(path.join(this.folder, `${fullName}.git`), files);
    this.hosted.set(fullName, {
      id: this.next(),
      fullName,
      repository,
      writers: new Map(writers.map((each) => [each.login, each])),
    });
  }

  repository(fullName: string): BareRepository {
    const found = this.hosted.get(fullName);
    if (found === undefined) throw new Error(`no ${fullName}`);
    return found.repository;
  }

  /** The body of the delivery for a label on issue 12. */
  labelled(fullName: string, label: string, by: ScriptedAccount, installation: number): object {
    const at = this.hosted.get(fullName);
    if (at === undefined) throw new Error(`no ${fullName}`);
    const named = { id: 3, name: label };
    const issue = {
      ...{
        id: 7_001,
        number: 12,
        title: 'The total forgets the quantity',
        body: 'Three apples cost as much as one.',
        state: 'open',
      },
      ...{
        html_url: `${this.github.url}/${fullName}/issues/12`,
        user: by,
        created_at: AT,
        updated_at: AT,
        labels: [named],
        assignees: [],
      },
    };
    return {
      action: 'labeled',
      label: named,
      issue,
      repository: this.shown(at),
      sender: by,
      installation: { id: installation },
    };
  }

  /** True: it is ours to answer. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? '/', this.github.url);
    const [, fullName, rest] =
      /^\/([^/]+\/[^/]+)\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(url.pathname) ?? [];
    if (fullName !== undefined) {
      this.git(request, response, { fullName, rest: rest ?? '', search: url.search });
      return true;
    }
    if (!/^\/api\/v3\/repos\//.test(url.pathname)) return false;
    this.api(request, url).then(
      ([status, body]) =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => void response.writeHead(500).end(JSON.stringify({ message: String(error) })),
    );
    return true;
  }

  private git(
    request: IncomingMessage,
    response: ServerResponse,
    at: { readonly fullName: string; readonly rest: string; readonly search: string },
  ): void {
    const [, secret = ''] = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':', 2);
    const token = this.tokenOf(secret);
    const writes = at.rest === 'git-receive-pack' || at.search.includes('git-receive-pack');
    if (token === null) return void response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
    if (!this.may(token, at.fullName, writes ? 'contents: write' : 'contents: read'))
      return void response.writeHead(403).end();
    runGitBackend(
      { directory: this.folder, pathname: `/${at.fullName}.git/${at.rest}`, search: at.search, user: 'slipway' },
      request,
      response,
    );
  }

  private async api(request: IncomingMessage, url: URL): Promise<Answer> {
    const sent = await text(request);
    const token = this.tokenOf((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (token === null) return [401, { message: 'Bad credentials' }];
    const [owner, name, ...rest] = url.pathname.slice('/api/v3/repos/'.length).split('/').map(decodeURIComponent);
    const at = this.hosted.get(`${owner}/${name}`);
    const call = `${request.method} ${rest.join('/')}`;
    const route = this.routes.find(([pattern]) => pattern.test(call));
    if (at === undefined || route === undefined) return [404, { message: 'Not Found', call }];
    const [pattern, needs, answer] = route;
    if (!this.may(token, at.fullName, needs)) return [403, { message: 'Resource not accessible by integration' }];
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    return answer({ at, parts: pattern.exec(call)?.slice(1) ?? [], query: url.searchParams, body });
  }

  private tokenOf(secret: string): MintedToken | null {
    return this.github.minted.find(({ token, expiresAt }) => token === secret && expiresAt > this.github.now()) ?? null;
  }

  private may({ installation, repositories, permissions }: MintedToken, fullName: string, needs: string): boolean {
    const [right = '', access = ''] = needs.split(': ');
    const reaches = (repositories ?? this.github.installations.get(installation)?.repositories ?? []).includes(
      fullName,
    );
    const holds = reaches && RANK.indexOf(permissions[right] ?? '') >= RANK.indexOf(access);
    if (!holds) this.refused.push(`${needs} ${fullName}`);
    return holds;
  }

  private next(): number {
    this.count += 1;
    return this.count;
  }

  private readonly routes: readonly Route[] = [
    [/^GET $/, 'metadata: read', ({ at }) => [200, this.shown(at)]],
    [
      /^GET collaborators\/([^/]+)\/permission$/,
      'metadata: read',
      ({ at, parts: [login = ''] }) => this.permission(at, login),
    ],
    [
      /^GET branches$/,
      'contents: read',
      async ({ at }) => [200, [...(await at.repository.branches()).keys()].map((name) => ({ name }))],
    ],
    [/^GET git\/trees\/(\w+)$/, 'contents: read', ({ at, parts: [hash = ''] }) => this.tree(at, hash)],
    [/^GET compare\/(\w+)\.\.\.(\w+)$/, 'contents: read', ({ at, parts }) => this.compare(at, parts)],
    [
      /^POST issues\/(\d+)\/reactions$/,
      'issues: write',
      ({ parts: [number], body }) => this.react(`${number} ${body['content']}`),
    ],
    [
      /^GET issues\/(\d+)\/comments$/,
      'issues: read',
      ({ at, parts: [number] }) => [200, this.commentsOf(at, Number(number))],
    ],
    [/^POST issues\/(\d+)\/comments$/, 'issues: write', (call) => this.comment(call)],
    [/^PATCH issues\/comments\/(\d+)$/, 'issues: write', (call) => this.edit(call)],
    [/^GET commits\/(\w+)\/status$/, 'statuses: read', () => [200, { statuses: [] }]],
    [
      /^GET commits\/(\w+)\/check-runs$/,
      'checks: read',
      ({ parts: [sha] }) => [200, { check_runs: [{ ...this.checkRun, head_sha: sha }] }],
    ],
    [/^GET pulls$/, 'pull_requests: read', (call) => this.listPulls(call)],
    [/^POST pulls$/, 'pull_requests: write', (call) => this.open(call)],
    [/^GET pulls\/(\d+)$/, 'pull_requests: read', ({ at, parts: [number] }) => this.pull(at, Number(number))],
    [/^PATCH pulls\/(\d+)$/, 'pull_requests: write', (call) => this.change(call)],
    [/^GET pulls\/(\d+)\/(?:reviews|comments)$/, 'pull_requests: read', () => [200, []]],
  ];
  private readonly checkRun = {
    id: 9_001,
    name: 'tests',
    status: 'completed',
    conclusion: 'success',
    html_url: null,
    output: { title: '3 passed' },
  };

  private shown({ id, fullName }: Hosted): object {
    return { id, full_name: fullName, private: true, default_branch: 'main' };
  }

  private permission({ writers }: Hosted, login: string): Answer {
    const user = writers.get(login);
    return user === undefined ? [404, { message: 'Not Found' }] : [200, { permission: 'write', user }];
  }

  private async tree({ repository }: Hosted, hash: string): Promise<Answer> {
    const entries = await repository.tree(hash, '');
    if (entries === null) return [404, { message: 'Not Found' }];
    const tree = entries.map(({ id, name, type }) => ({
      path: name,
      sha: id,
      mode: type === 'tree' ? '040000' : '100644',
    }));
    return [200, { truncated: false, tree }];
  }

  private async compare({ repository }: Hosted, [from = '', to = '']: readonly string[]): Promise<Answer> {
    const sha = await repository.mergeBase(from, to);
    return sha === null ? [404, { message: 'Not Found' }] : [200, { merge_base_commit: { sha } }];
  }

  private react(reaction: string): Answer {
    this.reactions.push(reaction);
    return [201, {}];
  }

  private written({ fullName }: Hosted, { id, on, body }: HostedComment): object {
    const user = { id: 90_000, login: 'slipway[bot]', type: 'Bot' };
    return {
      id,
      body,
      user,
      created_at: AT,
      html_url: `${this.github.url}/${fullName}/issues/${on}#issuecomment-${id}`,
    };
  }

  private commentsOf(at: Hosted, number: number): object[] {
    return this.comments.filter(({ on }) => on === number).map((each) => this.written(at, each));
  }

  private comment({ at, parts: [number], body }: Call): Answer {
    const made = { id: this.next(), on: Number(number), body: String(body['body']) };
    this.comments.push(made);
    return [201, this.written(at, made)];
  }

  private edit({ at, parts: [id], body }: Call): Answer {
    const known = this.comments.find((each) => String(each.id) === id);
    if (known === undefined) return [404, { message: 'Not Found' }];
    known.body = String(body['body']);
    return [200, this.written(at, known)];
  }

  private async shownPull(at: Hosted, pull: HostedPull): Promise<object> {
    const side = async (ref: string): Promise<object> => ({
      ref,
      sha: await at.repository.commitOf(`refs/heads/${ref}`),
      repo: { id: at.id },
    });
    const { id, number, title, body, state, draft, merged } = pull;
    return {
      ...{
        id,
        number,
        title,
        body,
        state,
        draft,
        merged,
        mergeable: true,
        created_at: AT,
        updated_at: AT,
        labels: [],
        assignees: [],
      },
      ...{
        html_url: `${this.github.url}/${at.fullName}/pull/${number}`,
        user: { id: 90_000, login: 'slipway[bot]', type: 'Bot' },
      },
      ...{ head: await side(pull.head), base: await side(pull.base) },
    };
  }

  private async listPulls({ at, query }: Call): Promise<Answer> {
    const head = query.get('head')?.split(':')[1];
    const found = this.pulls.filter(
      (each) => each.state === 'open' && each.head === head && each.base === query.get('base'),
    );
    return [200, await Promise.all(found.map((each) => this.shownPull(at, each)))];
  }

  private async open({ at, body }: Call): Promise<Answer> {
    const { head, base, title, draft } = body as { head: string; base: string; title: string; draft: boolean };
    if (this.pulls.some((each) => each.state === 'open' && each.head === head))
      return [422, { message: 'A pull request already exists' }];
    if ((await at.repository.commitOf(`refs/heads/${head}`)) === null)
      return [422, { message: 'Validation Failed: head' }];
    this.number += 1;
    const made = {
      id: this.next(),
      number: this.number,
      head,
      base,
      title,
      draft,
      body: String(body['body']),
      state: 'open' as const,
      merged: false,
    };
    this.pulls.push(made);
    return [201, await this.shownPull(at, made)];
  }

  private async pull(at: Hosted, number: number): Promise<Answer> {
    const found = this.pulls.find((each) => each.number === number);
    return found === undefined ? [404, { message: 'Not Found' }] : [200, await this.shownPull(at, found)];
  }

  private change({ at, parts: [number], body }: Call): Answer | Promise<Answer> {
    const found = this.pulls.find((each) => String(each.number) === number);
    if (found === undefined) return [404, { message: 'Not Found' }];
    if (typeof body['title'] === 'string') found.title = body['title'];
    if (typeof body['body'] === 'string') found.body = body['body'];
    return this.pull(at, found.number);
  }
}
