/** A user's act that may start or address an agent. One word for each row of the table in docs/integrations. */
export type TriggerKind =
  | 'label'
  | 'mention'
  | 'assignment'
  | 'review-comment'
  | 'review'
  | 'thread-reply'
  | 'direct-message'
  | 'button'
  | 'agent-session'
  | 'stop'
  | 'mute';

/** By the provider's own id, which never changes hands; `login` is for people to read. */
export interface Actor {
  readonly id: string;
  readonly login: string;
  readonly kind: 'user' | 'bot' | 'app';
  /** Slack: of another workspace, or a guest. */
  readonly foreign?: true;
}

export interface RepositoryRef {
  readonly id: string;
  /** `owner/name`, or the group's path. */
  readonly fullName: string;
  readonly private: boolean;
  readonly defaultBranch: string | null;
}

/** Where people talk about one thing, and where the answer goes. */
export interface Thread {
  readonly kind: 'issue' | 'pull-request' | 'channel-thread' | 'direct-message' | 'ticket' | 'agent-session';
  /** Unique within its connection: the key by which one conversation belongs to one thread. */
  readonly key: string;
  /** What calls about it need, such as `{number: 12}` or `{channel, ts}`; read by its own provider alone. */
  readonly place: Readonly<Record<string, string | number>>;
  readonly url: string | null;
  readonly title: string;
  /** Not readable by all readers of the repository or workspace: nothing of it is shown elsewhere. */
  readonly confidential: boolean;
  readonly state: 'open' | 'closed';
}

/** A text with who wrote it: the instruction is one, everything else an agent reads is quoted with its source. */
export interface Passage {
  /** Of the comment, issue or message; with `updatedAt` says which version. */
  readonly id: string;
  readonly author: Actor;
  readonly text: string;
  readonly createdAt: string | null;
  readonly url: string | null;
}

export interface PullRequestRef {
  readonly number: number;
  readonly headBranch: string;
  readonly headSha: string;
  readonly baseBranch: string;
  /** The head is in another repository, or that one is gone. */
  readonly fork: boolean;
  readonly draft: boolean;
}

/** Where in a change a review comment stands. */
export interface ReviewPlace {
  readonly commentId: string;
  readonly inReplyTo: string | null;
  readonly path: string;
  readonly line: number | null;
  readonly startLine: number | null;
  readonly side: 'LEFT' | 'RIGHT' | null;
  readonly diffHunk: string;
}

/** A button of ours below what a thread shows of its conversation. */
export interface Press {
  readonly kind: 'approve' | 'reject' | 'stop';
  /**
   * What was shown to be answered, by its name; empty for a stop. It gives no right: whoever may answer is decided when
   * it comes.
   */
  readonly of: string;
}

/** What a delivery asks for. Whether it may is decided later: nothing here says that the actor has a right. */
export interface Intent {
  readonly trigger: TriggerKind;
  /** The same for every delivery of the same deed (`facts/integrations.md`, section 0): the second dedupe. */
  readonly semanticKey: string;
  readonly actor: Actor;
  readonly thread: Thread;
  readonly repository: RepositoryRef | null;
  readonly pullRequest: PullRequestRef | null;
  readonly review: ReviewPlace | null;
  /**
   * The actor's own words as they stood at the event. Empty for a bare label or assignment: then `subject` is what is
   * asked for.
   */
  readonly instruction: Passage;
  /** With the trigger `button`: it answers the agent of the thread's conversation, or stops it. */
  readonly press?: Press;
  /**
   * The provider sends a review without its line comments: those of the actor are part of the instruction, and are read
   * from the thread.
   */
  readonly linesApart?: true;
  /** The issue, pull request or ticket itself, whose author may be anybody. */
  readonly subject: Passage | null;
  /** Wait this long for others of the same review before acting. Milliseconds. */
  readonly gatherMs?: number;
  /** Those that are taken together have the same; set where `gatherMs` is. */
  readonly gatherKey?: string;
}

/** What became of something that we follow. */
export type Outcome =
  | {
      readonly kind: 'pull-request';
      readonly repository: RepositoryRef;
      readonly number: number;
      readonly state: 'merged' | 'closed' | 'reopened' | 'changed';
    }
  | {
      readonly kind: 'checks';
      readonly repository: RepositoryRef;
      readonly headSha: string;
      /** `null`: the provider names the commit alone. */
      readonly branch: string | null;
      readonly conclusion: 'success' | 'failure' | 'pending';
    };

/** What happened to the connection itself. */
export type Lifecycle =
  /** A test delivery: the connection works. */
  | { readonly kind: 'verified' }
  | { readonly kind: 'removed' | 'suspended' | 'restored'; readonly account: string }
  | { readonly kind: 'access-changed'; readonly account: string }
  /** A user withdrew what they had given. */
  | { readonly kind: 'authorization-revoked'; readonly actorId: string };

/** Why a delivery asks for nothing. Shown in the delivery log; each has a sentence there. */
export type Ignored =
  | 'event-not-followed'
  | 'no-trigger'
  | 'own-act'
  | 'bot'
  | 'edited'
  | 'deleted'
  | 'quoted-only'
  | 'closed'
  | 'system-note'
  | 'confidential-off'
  | 'unreadable';

export type Reading =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'lifecycle'; readonly lifecycle: Lifecycle }
  /** Slack's `url_verification`: to be answered at once with this text. */
  | { readonly kind: 'challenge'; readonly answer: string }
  | { readonly kind: 'ignored'; readonly reason: Ignored; readonly detail?: string };
