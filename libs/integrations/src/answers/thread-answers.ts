import type { Written } from '../calls/code-host.js';
import type { ProviderClient } from '../calls/provider-client.js';
import type { Press, Thread } from '../intent.js';

/** Of the run that an answer is about: `waiting` is for a user, `done` and `failed` end it. */
export type AnswerState = 'working' | 'waiting' | 'done' | 'failed';

/** What a comment of ours says. Each provider writes it in its own syntax. */
export interface Answer {
  readonly state: AnswerState;
  /** Of our own making: plain sentences, without a name of anybody in them. */
  readonly headline: string;
  /** What the agent said, in Markdown. Hostile: rendered so that it mentions no user and loads nothing. */
  readonly said: string | null;
  readonly links: readonly { readonly label: string; readonly url: string }[];
  /**
   * Where each state is one more message: what the agent has done for this request so far, without any detail of it.
   */
  readonly steps?: string;
  /** What waits for a yes or a no, as it is: each provider shows it literally. Only with `buttons`. */
  readonly waits?: string;
  /** What a reader can press, where the provider has buttons. `of` comes back with the press. */
  readonly buttons?: readonly Press[];
  /** With `waiting`: the page on which the reader links their account. */
  readonly linkAccountAt?: string;
  /** With `waiting`: the reader chooses a repository, from what is suggested while they type. */
  readonly choosesRepository?: true;
  /**
   * How often the provider has acknowledged this answer. Names what is said, where each state is one more message: the
   * same when it is sent again.
   */
  readonly revision?: number;
  /** Letters and digits; stands in the comment where no reader sees it. */
  readonly marker: string;
}

/** What asked: the issue, pull request or message itself, or one comment of it. */
export type Asked = { readonly kind: 'subject' } | { readonly kind: 'comment' | 'review-comment'; readonly id: string };

/** A page that a thread points to. */
export interface ThreadLink {
  /** The same for the same thing, whatever its label and address are by now. */
  readonly key: string;
  readonly label: string;
  readonly url: string;
  /** There is nothing left to do there. */
  readonly resolved: boolean;
}

/** How far a ticket is: work on it has begun, or is over. */
export type TicketStage = 'started' | 'done';

/** What is said in a thread. Each call throws `ProviderRefusal`; none is repeated here. */
export interface ThreadAnswers {
  /** Shows that a request was seen. No-op when it shows that already. @param deed names the request. */
  acknowledge(place: Thread['place'], asked: Asked, deed: string): Promise<void>;
  post(place: Thread['place'], answer: Answer): Promise<Written>;
  update(place: Thread['place'], id: string, answer: Answer): Promise<Written>;
  /**
   * The oldest comment since then that holds the marker: who copies a marker comes after us. For a `post` whose outcome
   * is unknown.
   */
  find(place: Thread['place'], marker: string, since: Date): Promise<Written | null>;
  /** Shows the page beside the thread, once. Missing: the thread has no place for it but its comments. */
  link?(place: Thread['place'], link: ThreadLink): Promise<void>;
  /** Moves the ticket of the thread. No-op when it is there, or further. Missing: the thread has no ticket. */
  move?(place: Thread['place'], stage: TicketStage): Promise<void>;
  /**
   * Shows for a while, beside the messages, what the agent does now. `null`: nothing any more. Missing: there is no
   * place for it.
   */
  status?(place: Thread['place'], words: string | null): Promise<void>;
  /** Answers below one line comment of a change; missing where a provider has none, or is not answered there yet. */
  readonly replies?: ReplyAnswers;
}

export interface ReplyAnswers {
  post(place: Thread['place'], commentId: string, answer: Answer): Promise<Written>;
  find(place: Thread['place'], commentId: string, marker: string): Promise<Written | null>;
  /** Says that what the comment asked for is done. No-op when it is resolved. */
  resolve(place: Thread['place'], commentId: string): Promise<void>;
}

/** How a provider is called for answers. */
export interface AnswerAccess {
  /** The value of `authorization` for an access token. */
  readonly authorization: (token: string) => string;
  /** Of the API of the instance whose pages are at `baseUrl`; neither ends with a slash. */
  readonly apiUrl: (baseUrl: string) => string;
  /** The repository that a thread is in, by which its calls are narrowed; missing where threads are in none. */
  readonly repositoryOf?: (place: Thread['place']) => string | null;
  /** @param baseUrl of the instance's pages. */
  readonly calls: (client: ProviderClient, baseUrl: string) => ThreadAnswers;
  /** Whether a request can be reacted to. */
  readonly reacts: boolean;
  /**
   * Threads in which each state is one more message, and which are kept informed while the agent works. Missing: there
   * are none.
   */
  readonly follows?: (place: Thread['place']) => boolean;
  /** What else a thread shows beside reaction and comment: `link` and `move` of its calls. */
  readonly effects?: readonly ('link' | 'move')[];
  /** An answer can have buttons, and a press of one comes as a delivery. */
  readonly buttons?: true;
  /** Its calls have `status`. What is shown must be said again within `lastsMs`, or is gone. Milliseconds. */
  readonly status?: { readonly lastsMs: number };
  /** Its calls have `replies`. */
  readonly replies?: true;
  /**
   * Calls of one connection: so many at once, then one in this time. Below what the provider lets write. Milliseconds.
   */
  readonly pace: { readonly burst: number; readonly everyMs: number };
}
