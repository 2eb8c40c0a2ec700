/** An account at a git host. */
export interface HostAccount {
  readonly id: string;
  readonly login: string;
}

export interface HostPullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly merged: boolean;
  readonly branch: string;
  readonly sha: string;
  readonly base: string;
}

export interface HostCommit {
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
}

type On = { readonly issue: number } | { readonly pull: number };

/** A repository of the owner, as people and programs beside Slipway work on it. */
export interface HostRepository {
  readonly fullName: string;
  /** `METHOD path` of the call that opens a pull request. */
  readonly createCall: string;
  /** In any state. */
  pullRequests(): Promise<readonly HostPullRequest[]>;
  files(number: number): Promise<readonly string[]>;
  branches(): Promise<readonly string[]>;
  commits(branch: string): Promise<readonly HostCommit[]>;
  commit(made: {
    readonly message: string;
    readonly files: Readonly<Record<string, string>>;
    readonly branch?: string;
    readonly newBranch?: string;
  }): Promise<string>;
  addMember(account: HostAccount, right: 'read' | 'write'): Promise<void>;
  setStatus(
    sha: string,
    status: { readonly name: string; readonly state: 'success' | 'failure'; readonly description: string },
  ): Promise<void>;
  approve(number: number, by: HostAccount): Promise<void>;
  /** Without so many nothing is merged; 0: none. */
  requireApprovals(count: number): Promise<void>;
  openIssue(title: string, body: string): Promise<number>;
  comment(on: On, body: string): Promise<void>;
  comments(on: On): Promise<readonly string[]>;
}

export interface NewHostRepository {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** Delivers what happens there. */
  readonly webhook: { readonly url: string; readonly secret: string };
  readonly private: boolean;
}

/** A git host that a suite runs on, and how it differs in what people see. */
export interface GitHost {
  readonly provider: string;
  /** Of the connection. */
  readonly kind: string;
  readonly url: string;
  readonly owner: HostAccount;
  readonly gitUser: string;
  /** At the beginning of a draft's title. */
  readonly draft: string;
  /** Before the number of a pull request. */
  readonly sign: string;
  /** A file that says who owns what, and as what it is refused. */
  readonly owners: string;
  readonly ownersShown: string;
  /** Where a repository keeps its text for pull requests. */
  readonly template: string;
  /** A file that CI reads, as what it is refused, and a command of a shell that writes it. */
  readonly ciFile: string;
  readonly ci: string;
  readonly writesCi: string;
  noreply(account: HostAccount): string;
  /** Of the owner, for the connection. */
  token(): Promise<string>;
  account(login: string): Promise<HostAccount>;
  repository(made: NewHostRepository): Promise<HostRepository>;
  close(): Promise<void>;
}
