import type { BareRepository } from '../bare-repository.js';

export interface GitLabUser {
  readonly id: number;
  readonly username: string;
}

export interface GitLabNote {
  readonly id: number;
  body: string;
  readonly author: GitLabUser;
  readonly createdAt: string;
  readonly internal: boolean;
  /** Of a discussion in a change. */
  readonly position: { readonly path: string; readonly line: number } | null;
  resolved: boolean;
}

export interface GitLabDiscussion {
  readonly id: string;
  readonly notes: GitLabNote[];
}

/** An issue or a merge request: what people talk about. */
export interface GitLabThread {
  readonly kind: 'issues' | 'merge_requests';
  readonly id: number;
  readonly iid: number;
  title: string;
  description: string;
  readonly author: GitLabUser;
  state: 'opened' | 'closed' | 'merged';
  labels: string[];
  readonly confidential: boolean;
  readonly discussions: GitLabDiscussion[];
  readonly awards: string[];
  /** Of a merge request. */
  readonly source: string;
  readonly target: string;
  /** Of a fork, that one's id. */
  readonly sourceProject: number;
  readonly approvals: GitLabUser[];
  readonly requestedChanges: GitLabUser[];
  /** As a branch that is gone, or was merged, leaves it. */
  sha: string | null;
  readonly createdAt: string;
  /** Of a merge request that is merged. */
  merged: { readonly at: string; readonly commit: string; readonly base: string } | null;
}

export interface GitLabStatus {
  readonly id: number;
  readonly sha: string;
  readonly name: string;
  status: string;
  description: string;
  targetUrl: string | null;
}

export interface GitLabHookEvent {
  readonly id: number;
  /** `Idempotency-Key`, the same when it is sent again. */
  readonly key: string;
  /** When it was signed. Seconds since 1970. */
  readonly at: string;
  readonly trigger: string;
  readonly event: string;
  readonly body: string;
  /** `internal error`: there was no answer. */
  readonly responseStatus: string;
}

export interface GitLabHook {
  readonly id: number;
  url: string;
  token: string | null;
  signingToken: string | null;
  events: Readonly<Record<string, boolean>>;
  alertStatus: 'executable' | 'disabled';
  failures: number;
  readonly sent: GitLabHookEvent[];
}

export interface GitLabProject {
  readonly id: number;
  path: string;
  visibility: 'private' | 'internal' | 'public';
  readonly repository: BareRepository;
  /** Level of access by user id. */
  readonly members: Map<number, number>;
  readonly threads: GitLabThread[];
  readonly statuses: GitLabStatus[];
  readonly hooks: GitLabHook[];
  /** Approvals without which nothing is merged. */
  approvalsRequired: number;
  nextIid: Record<GitLabThread['kind'], number>;
}

export interface GitLabToken {
  readonly user: GitLabUser;
  readonly scopes: readonly string[];
}
