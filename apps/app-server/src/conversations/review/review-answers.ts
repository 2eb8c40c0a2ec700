import type { ReviewThread } from '@slipway/contracts/conversations';
import type { PoolClient } from '@slipway/db/sql';
import { answersIn } from '@slipway/domain/review';
import { listAgentTexts, type Place } from './review.queries.js';

/** The threads with what the agent said to each since they were sent. */
export async function withAnswers(
  client: PoolClient,
  place: Place,
  threads: readonly ReviewThread[],
): Promise<ReviewThread[]> {
  const messages = new Set(threads.flatMap(({ comments }) => comments.flatMap(({ messageId }) => messageId ?? [])));
  if (messages.size === 0) return [...threads];
  const texts = await listAgentTexts(client, place, [...messages]);
  const answers = texts.flatMap(({ seq, at, text }) => answersIn(text).map((answer) => ({ ...answer, seq, at })));
  const byNumber = Map.groupBy(answers, ({ number }) => number);
  return threads.map((thread) =>
    thread.comments.some(({ messageId }) => messageId !== null)
      ? { ...thread, answers: (byNumber.get(thread.number) ?? []).map(({ number: _, ...answer }) => answer) }
      : thread,
  );
}
