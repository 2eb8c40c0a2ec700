'use client';
import type { CreateReviewThread, Review, ReviewThread, SentReview } from '@slipway/contracts/conversations';
import {
  type UseMutationResult,
  type UseQueryResult,
  useIsMutating,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import type { Written } from './comment-box.tsx';

/** Threads and the files that were viewed. Read again when a viewer changed them, or the agent said something. */
export function useReview(): UseQueryResult<Review> {
  const { orgId, conversation } = useConversation();
  return useQuery({
    queryKey: ['review', orgId, conversation.id],
    queryFn: ({ signal }) => api.getReview({ org: orgId, conversation: conversation.id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The hashes of the files that the user has viewed, by path. */
export function useViewed(): ReadonlyMap<string, string> {
  const viewed = useReview().data?.viewed;
  return useMemo(() => new Map(viewed?.map(({ path, hash }) => [path, hash])), [viewed]);
}

/** Of the requests that save a comment. */
const writingKey = (orgId: string, conversation: string) => ['review-write', orgId, conversation] as const;

/**
 * Whether a comment is being saved. A read of the review may have it before the answer has closed its box, which takes
 * the keys until then.
 */
export function useIsWriting(): boolean {
  const { orgId, conversation } = useConversation();
  return useIsMutating({ mutationKey: writingKey(orgId, conversation.id) }) > 0;
}

/** Has the review read again when the log has grown by something that may answer it. Used once a page. */
export function useFreshReview(): void {
  const { store, orgId, conversation } = useConversation();
  const queries = useQueryClient();
  useEffect(() => {
    let status = store.view.get().status;
    return store.view.subscribe(() => {
      const next = store.view.get().status;
      if (next === status) return;
      status = next;
      // A comment that is being saved has it read again, and closes its box first.
      if (queries.isMutating({ mutationKey: writingKey(orgId, conversation.id) }) > 0) return;
      void queries.invalidateQueries({ queryKey: ['review', orgId, conversation.id] });
    });
  }, [store, queries, orgId, conversation.id]);
}

/** What can be done to a review; each puts what the server answers into the page. */
export interface ReviewVerbs {
  readonly begin: UseMutationResult<ReviewThread, Error, CreateReviewThread>;
  readonly reply: UseMutationResult<ReviewThread, Error, Written & { thread: string }>;
  readonly remove: UseMutationResult<void, Error, { thread: string; comment: string }>;
  readonly resolve: UseMutationResult<ReviewThread, Error, { thread: string; resolved: boolean }>;
  readonly view: UseMutationResult<void, Error, { path: string; hash: string | null }>;
  readonly send: UseMutationResult<SentReview, Error, void>;
}

export function useReviewVerbs(): ReviewVerbs {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const queryKey = ['review', orgId, conversation.id];
  const target = { org: orgId, conversation: conversation.id };
  const mutationKey = writingKey(orgId, conversation.id);
  const onSettled = () => queries.invalidateQueries({ queryKey });
  /**
   * The box of a comment closes in the render that first counts the comment: one that was still open would take the key
   * that sends the review. So nothing reads the review while a comment is being saved, and what reads it then is not
   * awaited.
   */
  const written = {
    mutationKey,
    onMutate: () => queries.cancelQueries({ queryKey }),
    onSuccess: (thread: ReviewThread) =>
      void queries.setQueryData<Review>(queryKey, (before) => before && withThread(before, thread)),
    onSettled: () => void (queries.isMutating({ mutationKey }) > 1 || onSettled()),
  };
  return {
    begin: useMutation({
      mutationFn: (body: CreateReviewThread) => api.createReviewThread({ ...target, body }),
      ...written,
    }),
    reply: useMutation({
      mutationFn: ({ thread, ...body }: Written & { thread: string }) =>
        api.createReviewComment({ ...target, thread, body }),
      ...written,
    }),
    remove: useMutation({
      mutationFn: ({ thread, comment }: { thread: string; comment: string }) =>
        api.deleteReviewComment({ ...target, thread, comment }),
      onSettled,
    }),
    resolve: useMutation({
      mutationFn: ({ thread, resolved }: { thread: string; resolved: boolean }) =>
        api.updateReviewThread({ ...target, thread, body: { resolved } }),
      onSettled,
    }),
    view: useMutation({
      mutationFn: (body: { path: string; hash: string | null }) => api.setViewedFile({ ...target, body }),
      // At once: it is only the user's own, and a failure reads it again.
      onMutate: ({ path, hash }) => {
        queries.setQueryData<Review>(queryKey, (before) => {
          if (before === undefined) return before;
          const others = before.viewed.filter((each) => each.path !== path);
          return { ...before, viewed: hash === null ? others : [...others, { path, hash }] };
        });
      },
      onSettled,
    }),
    send: useMutation({ mutationFn: () => api.sendReview(target), onSettled }),
  };
}

/** With what the server answered in the place of what was known of that thread. */
function withThread(review: Review, thread: ReviewThread): Review {
  const isKnown = review.threads.some(({ id }) => id === thread.id);
  const threads = isKnown
    ? review.threads.map((each) => (each.id === thread.id ? thread : each))
    : [...review.threads, thread];
  return { ...review, threads };
}
