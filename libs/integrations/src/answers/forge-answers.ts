import { z } from 'zod';
import type { CodeHost, ForgeComments, Place } from '../calls/code-host.js';
import type { Thread } from '../intent.js';
import type { ThreadSubject } from '../provider.js';
import { markdownOf, markOf } from './markdown-answer.js';
import type { ThreadAnswers } from './thread-answers.js';

const Stored = z.object({ repository: z.string(), number: z.number().int().positive() });

/** Answers on issues and pull requests of a git host: reactions and comments. */
export function forgeAnswers(
  host: ForgeComments & Pick<CodeHost, 'replyToReview' | 'findReviewReply' | 'resolveReview'>,
): ThreadAnswers {
  return {
    acknowledge: (place, asked) => host.react(placeOf(place), asked),
    post: (place, answer) => host.comment(placeOf(place), markdownOf(answer)),
    update: (place, id, answer) => host.updateComment(placeOf(place).repository, id, markdownOf(answer)),
    find: (place, marker, since) => host.findComment(placeOf(place), markOf(marker), since),
    replies: {
      post: (place, commentId, answer) => host.replyToReview(placeOf(place), commentId, markdownOf(answer)),
      find: (place, _commentId, marker) => host.findReviewReply(placeOf(place), markOf(marker)),
      resolve: (place, commentId) => host.resolveReview(placeOf(place), commentId),
    },
  };
}

/** @throws ZodError for a place that another provider has made. */
const placeOf = (place: Thread['place']): Place => Stored.parse(place);

/** Issues and pull requests share their numbers. */
export function forgeSubject(place: Thread['place']): ThreadSubject | null {
  const read = Stored.safeParse(place);
  return read.success ? { number: read.data.number, kind: null } : null;
}
