import { z } from 'zod';
import type { CodeHost, Place, Review } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, flag, id, list, maybe, name, text } from '../../reading/fields.js';
import { part, project } from './paths.js';

const PAGE = 100;
/** Discussions searched for a note. */
const MAX_PAGES = 10;

const someone = fields({ id });
const note = fields({ id, body: text, author: maybe(someone), resolvable: flag, resolved: flag, system: flag });
const discussion = fields({ id, notes: list(note) });
type Discussion = z.output<typeof discussion>;

const approvals = fields({ approved_by: list(fields({ user: someone })) });
const reviewers = list(fields({ user: someone, state: maybe(name) }));

const mergeRequestAt = ({ repository, number }: Place): string => `${project(repository)}/merge_requests/${number}`;

/**
 * Answers and verdicts on merge requests: GitLab has approvals, reviewers and discussions, and no reviews. @param at
 * the path of one.
 */
export function reviewCalls(
  client: ProviderClient,
  at = mergeRequestAt,
): Pick<CodeHost, 'reviews' | 'replyToReview' | 'findReviewReply' | 'resolveReview'> {
  const discussions = async (place: Place, page: number): Promise<readonly Discussion[]> =>
    (
      await client.call({
        method: 'GET',
        path: `${at(place)}/discussions?per_page=${PAGE}&page=${page}`,
        answer: list(discussion),
      })
    ).body;
  /** @throws ProviderRefusal `missing` */
  const withNote = async (place: Place, noteId: string): Promise<Discussion> => {
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const some = await discussions(place, page);
      const found = some.find(({ notes }) => notes.some((each) => each.id === noteId));
      if (found !== undefined) return found;
      if (some.length < PAGE) break;
    }
    throw new ProviderRefusal('no discussion has the note', {
      kind: 'missing',
      status: null,
      retryAt: null,
      outcomeUnknown: false,
    });
  };
  return {
    replyToReview: async (place, commentId, body) => {
      const path = `${at(place)}/discussions/${part((await withNote(place, commentId)).id)}/notes`;
      // The API names no address of a note.
      return {
        id: (await client.call({ method: 'POST', path, body: { body }, answer: fields({ id }) })).body.id,
        url: null,
      };
    },
    findReviewReply: async (place, marker) => {
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const some = await discussions(place, page);
        const found = some.flatMap(({ notes }) => notes).find(({ body }) => body.includes(marker));
        if (found !== undefined) return { id: found.id, url: null };
        if (some.length < PAGE) break;
      }
      return null;
    },
    resolveReview: async (place, commentId) => {
      const { id: discussionId, notes } = await withNote(place, commentId);
      if (!notes.some(({ resolvable, resolved }) => resolvable && !resolved)) return;
      await client.call({
        method: 'PUT',
        path: `${at(place)}/discussions/${part(discussionId)}?resolved=true`,
        answer: z.unknown(),
      });
    },
    reviews: async (repository, number) => {
      const place = { repository, number };
      const [said, approved, asked] = await Promise.all([
        discussions(place, 1),
        client
          .call({ method: 'GET', path: `${at(place)}/approvals`, answer: approvals })
          .then(({ body }) => body.approved_by, unlessMissing),
        client
          .call({ method: 'GET', path: `${at(place)}/reviewers?per_page=${PAGE}`, answer: reviewers })
          .then(({ body }) => body, unlessMissing),
      ]);
      const open = said.filter(({ notes }) =>
        notes.some(({ resolvable, resolved, system }) => resolvable && !resolved && !system),
      );
      const verdicts: Review[] = [
        ...open
          .flatMap(({ notes }) => notes.slice(0, 1))
          .flatMap(({ author }) => (author === null ? [] : [{ userId: author.id, verdict: 'commented' as const }])),
        ...approved.map(({ user }) => ({ userId: user.id, verdict: 'approved' as const })),
        ...asked
          .filter(({ state }) => state === 'requested_changes')
          .map(({ user }) => ({ userId: user.id, verdict: 'changes-requested' as const })),
      ];
      return verdicts.slice(0, PAGE);
    },
  };
}

/** An older GitLab, or an edition without it. */
function unlessMissing(error: unknown): [] {
  if (error instanceof ProviderRefusal && (error.kind === 'missing' || error.kind === 'forbidden')) return [];
  throw error;
}
