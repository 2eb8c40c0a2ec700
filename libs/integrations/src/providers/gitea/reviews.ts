import { z } from 'zod';
import type { CodeHost } from '../../calls/code-host.js';
import { forgeComment, writtenOf } from '../../calls/forge-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, id } from '../../reading/fields.js';
import { PAGE } from './page.js';

/** Of reviews, and of those whose line comments are read: each costs a request. */
const MAX_REVIEW_PAGES = 4;
const MAX_REVIEWS = 40;
const reviewed = fields({ id, comments_count: z.number().nullish().catch(null) });

/** Line comments of reviews: finds our reply to one, and resolves its thread. */
export function giteaReviews(client: ProviderClient): Pick<CodeHost, 'findReviewReply' | 'resolveReview'> {
  return {
    // It keeps line comments in their reviews, oldest first.
    findReviewReply: async ({ repository, number }, marker) => {
      const pull = `${repo(repository)}/pulls/${number}`;
      const all: z.output<typeof reviewed>[] = [];
      for (let page = 1; page <= MAX_REVIEW_PAGES; page += 1) {
        const { body } = await client.call({
          method: 'GET',
          path: `${pull}/reviews?limit=${PAGE}&page=${page}`,
          answer: z.array(reviewed),
        });
        all.push(...body);
        if (body.length < PAGE) break;
      }
      const withLines = all.filter(({ comments_count }) => (comments_count ?? 0) > 0).toReversed();
      for (const { id: review } of withLines.slice(0, MAX_REVIEWS)) {
        const { body } = await client.call({
          method: 'GET',
          path: `${pull}/reviews/${part(review)}/comments`,
          answer: z.array(forgeComment),
        });
        const found = body.find((each) => each.body.includes(marker));
        if (found !== undefined) return writtenOf(found);
      }
      return null;
    },
    resolveReview: async ({ repository }, commentId) => {
      await client.call({
        method: 'POST',
        path: `${repo(repository)}/pulls/comments/${part(commentId)}/resolve`,
        answer: z.unknown(),
      });
    },
  };
}
