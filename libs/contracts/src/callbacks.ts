import { z } from 'zod';

/** `waiting`: it is not there yet, or not as it should be. */
export const THREAD_ANSWER_STATES = ['waiting', 'shown', 'given-up'] as const;
export const ThreadAnswerState = z.enum(THREAD_ANSWER_STATES);
export type ThreadAnswerState = z.infer<typeof ThreadAnswerState>;

/** The comment in which a thread at a provider shows how far its conversation is. There is one a thread; it is edited in place. */
export const ThreadAnswer = z.object({
  connectionId: z.string(),
  provider: z.string(),
  threadTitle: z.string(),
  threadUrl: z.string().nullable(),
  state: ThreadAnswerState,
  /** Of the comment. `null`: it is not made yet, or the provider has named no address. */
  url: z.string().nullable(),
  /** Why it waits or was given up, in a sentence. */
  problem: z.string().nullable(),
  nextTryAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
});
export type ThreadAnswer = z.infer<typeof ThreadAnswer>;
/** There is always one page: a conversation belongs to few threads. */
export const ThreadAnswerList = z.object({ data: z.array(ThreadAnswer) });
export type ThreadAnswerList = z.infer<typeof ThreadAnswerList>;
