import { Inject, Injectable } from '@nestjs/common';
import {
  type CreateReviewComment,
  type CreateReviewThread,
  MAX_EXCERPT_LENGTH,
  MAX_PROMPT_LENGTH,
  MAX_QUEUED_MESSAGES,
  MAX_REVIEW_COMMENTS,
  MAX_REVIEW_THREADS,
  MAX_VIEWED_FILES,
  type Review,
  type ReviewThread,
  type SentReview,
  type SetViewedFile,
  type UpdateReviewThread,
} from '@slipway/contracts/conversations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { reviewMessage } from '@slipway/domain/review';
import { notFound, SlipwayError } from '@slipway/errors';
import { Hubs } from '../../log/events/hubs.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJob } from '../../platform/outbox.queries.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertStorage, fullStorage } from '../../sandboxes/storage/full-storage.js';
import { assertBudget } from '../../spending/budgets/spent-budget.js';
import { findConversation, lockSandbox, setDesired } from '../conversations.queries.js';
import { insertMessage, queuedOf } from '../inbox.queries.js';
import {
  countReview,
  deleteComment,
  insertComment,
  insertThread,
  listThreads,
  listViewed,
  markSent,
  resolveThread,
  setViewed,
} from './review.queries.js';
import { withAnswers } from './review-answers.js';

/** Threads on the lines of a conversation's changes; what an agent answers is read from its log. */
@Injectable()
export class ReviewService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly hubs: Hubs,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  get({ orgId, actor }: Principal, id: string): Promise<Review> {
    return inOrg(this.pool, orgId, async (client) => {
      if ((await findConversation(client, orgId, id)) === null) throw notFound();
      const place = { orgId, id };
      const threads = await withAnswers(client, place, await listThreads(client, place));
      return { threads, viewed: await listViewed(client, place, actor.id) };
    });
  }

  /**
   * The same `thread` again is the same thread. @throws SlipwayError `resource.not-found`, `review.full`,
   * `request.invalid` for a suggestion to lines that were cut.
   */
  async createThread(
    caller: Principal,
    id: string,
    { anchor, ...comment }: CreateReviewThread,
    thread: string = this.ids.uuid(),
  ): Promise<ReviewThread> {
    assertWhole(anchor.excerpt, comment.suggestion);
    const place = { orgId: caller.orgId, id };
    return this.changed(caller, id, async (client) => {
      const known = await listThreads(client, place, thread);
      if (known[0] !== undefined) return known[0];
      const { threads, comments, next } = await countReview(client, place);
      if (threads >= MAX_REVIEW_THREADS || comments >= MAX_REVIEW_COMMENTS) throw full();
      const at = this.clock.now();
      if (!(await insertThread(client, place, { id: thread, number: next, anchor, at }))) throw notFound();
      await insertComment(client, caller, { ...comment, id: this.ids.uuid(), conversation: id, thread, at });
      return this.one(client, { ...place, thread });
    });
  }

  /** @throws SlipwayError as `createThread`. */
  async createComment(
    caller: Principal,
    { conversation, thread }: { conversation: string; thread: string },
    body: CreateReviewComment,
    comment: string = this.ids.uuid(),
  ): Promise<ReviewThread> {
    const place = { orgId: caller.orgId, id: conversation };
    return this.changed(caller, conversation, async (client) => {
      const { anchor } = await this.one(client, { ...place, thread });
      assertWhole(anchor.excerpt, body.suggestion);
      if ((await countReview(client, place)).comments >= MAX_REVIEW_COMMENTS) throw full();
      await insertComment(client, caller, { ...body, id: comment, conversation, thread, at: this.clock.now() });
      return this.one(client, { ...place, thread });
    });
  }

  /**
   * Repeating it is fine. Another user's comment is none of the caller's. @throws SlipwayError `resource.not-found`,
   * `review.comment-sent`.
   */
  async deleteComment(
    caller: Principal,
    { conversation, thread }: { conversation: string; thread: string },
    comment: string,
  ): Promise<void> {
    const place = { orgId: caller.orgId, id: conversation };
    await this.changed(caller, conversation, async (client) => {
      const comments = (await listThreads(client, place, thread))[0]?.comments ?? [];
      const found = comments.find((each) => each.id === comment);
      if (found === undefined || found.author.id !== caller.actor.id) throw notFound();
      if (found.messageId !== null)
        throw new SlipwayError('review.comment-sent', 'It went to the agent with an earlier message.');
      await deleteComment(client, place, { thread, comment });
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async updateThread(
    caller: Principal,
    { conversation, thread }: { conversation: string; thread: string },
    { resolved }: UpdateReviewThread,
  ): Promise<ReviewThread> {
    const place = { orgId: caller.orgId, id: conversation };
    return this.changed(caller, conversation, async (client) => {
      const by = resolved ? { at: this.clock.now(), label: caller.actor.label } : null;
      if (!(await resolveThread(client, place, thread, by))) throw notFound();
      return this.one(client, { ...place, thread });
    });
  }

  /** @throws SlipwayError `resource.not-found`, `review.full`. */
  async setViewed({ orgId, actor }: Principal, id: string, file: SetViewedFile): Promise<void> {
    await inOrg(this.pool, orgId, async (client) => {
      if ((await findConversation(client, orgId, id)) === null) throw notFound();
      const fits = await setViewed(client, { orgId, id }, { ...file, userId: actor.id, most: MAX_VIEWED_FILES });
      if (!fits) throw new SlipwayError('review.full', `You have viewed ${MAX_VIEWED_FILES} files of it.`);
    });
  }

  /**
   * The caller's comments that no message has become one message, in one transaction under the conversation's row: of
   * two requests one finds none. The same `message` again is the same sending.
   * @throws SlipwayError `resource.not-found`, `review.nothing-to-send`, `conversation.queue-full`,
   * `budget.exhausted`, `storage.exhausted`.
   */
  async send(caller: Principal, id: string, message: string = this.ids.uuid()): Promise<SentReview> {
    const { orgId, actor } = caller;
    const place = { orgId, id };
    const sent = await inOrg(this.pool, orgId, async (client) => {
      const row = await lockSandbox(client, orgId, id);
      if (row === null) throw notFound();
      const threads = await listThreads(client, place);
      const mine = threads.flatMap(({ number, anchor, comments }) =>
        comments.filter((comment) => comment.author.id === actor.id).map((comment) => ({ ...comment, number, anchor })),
      );
      const waiting = mine.filter(({ messageId }) => messageId === null);
      const before = mine.filter(({ messageId }) => messageId === message);
      if (before.length > 0)
        return { job: null, answer: { messageId: message, comments: before.length, left: waiting.length } } as const;
      const { text, taken, left } = reviewMessage(waiting, MAX_PROMPT_LENGTH);
      if (taken.length === 0)
        throw new SlipwayError('review.nothing-to-send', 'Every comment of yours has been sent already.');
      if ((await queuedOf(client, orgId, id)).length >= MAX_QUEUED_MESSAGES)
        throw new SlipwayError('conversation.queue-full', `${MAX_QUEUED_MESSAGES} messages are waiting already.`, {
          retryAfterSeconds: 5,
        });
      await assertBudget(client, orgId, actor.id, this.clock.now());
      await assertStorage(client, orgId);
      if (!(await insertMessage(client, caller, id, { id: message, text })))
        throw new Error('an id that was made for this message is taken');
      await markSent(client, place, { message, comments: taken.map((comment) => comment.id) });
      const live = row.desired === 'run' && row.sandboxStatus === 'RUNNING' && row.statusState.start === 'ready';
      const job = live ? 'conversation-deliver' : 'conversation-start';
      await setDesired(client, orgId, id, { desired: 'run' });
      await wantJob(client, orgId, job, id);
      return { job, answer: { messageId: message, comments: taken.length, left: left.length } } as const;
    }).catch((error: unknown) => Promise.reject(fullStorage(error) ?? error));
    if (sent.job !== null) {
      this.jobs.enqueue(sent.job, orgId, id);
      this.hubs.inboxChanged(orgId, id);
      this.hubs.reviewChanged(orgId, id);
    }
    return sent.answer;
  }

  /** A change under the conversation's row, so that bounds and numbers hold; viewers hear of it after the commit. */
  private async changed<T>({ orgId }: Principal, id: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const done = await inOrg(this.pool, orgId, async (client) => {
      if ((await lockSandbox(client, orgId, id)) === null) throw notFound();
      return work(client);
    });
    this.hubs.reviewChanged(orgId, id);
    return done;
  }

  private async one(
    client: PoolClient,
    { thread, ...place }: { orgId: string; id: string; thread: string },
  ): Promise<ReviewThread> {
    const [found] = await withAnswers(client, place, await listThreads(client, place, thread));
    if (found === undefined) throw notFound();
    return found;
  }
}

function assertWhole(excerpt: string, suggestion: string | null | undefined): void {
  if (suggestion == null || excerpt.length < MAX_EXCERPT_LENGTH) return;
  throw new SlipwayError('request.invalid', 'suggestion: needs lines that were not cut', {
    fields: [{ path: 'suggestion', message: 'needs lines that were not cut' }],
  });
}

function full(): SlipwayError {
  return new SlipwayError(
    'review.full',
    `A conversation has at most ${MAX_REVIEW_THREADS} threads and ${MAX_REVIEW_COMMENTS} comments.`,
  );
}
