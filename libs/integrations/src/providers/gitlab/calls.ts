import { z } from 'zod';
import { markdownOf, markOf } from '../../answers/markdown-answer.js';
import type { Answer, Asked, ThreadAnswers } from '../../answers/thread-answers.js';
import type { Permission, Place, Written } from '../../calls/code-host.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import type { Actor, Thread } from '../../intent.js';
import { fields, id, moment, name, text } from '../../reading/fields.js';
import { part, pathOf, project } from './paths.js';
import { reviewCalls } from './reviews.js';

const written = fields({ id });
const note = fields({ id, body: text, created_at: moment });
const member = fields({ id, access_level: z.number().int(), state: name });

/** Of GitLab's levels: who may push, and who may change the project. */
const DEVELOPER = 30;
const MAINTAINER = 40;
const PAGE = 100;
/** No further note is written while the outcome of one is unknown. */
const MAX_PAGES = 10;

/** @param client below `/api/v4`. */
export function gitlabAnswers(client: ProviderClient): ThreadAnswers {
  const reviews = reviewCalls(client, ({ repository }) => repository);
  const placeOf = (place: Thread['place']): Place => ({ repository: pathOf(place).on, number: 0 });
  return {
    replies: {
      post: (place, commentId, answer) => reviews.replyToReview(placeOf(place), commentId, markdownOf(answer)),
      find: (place, _commentId, marker) => reviews.findReviewReply(placeOf(place), markOf(marker)),
      resolve: (place, commentId) => reviews.resolveReview(placeOf(place), commentId),
    },
    acknowledge: async (place, asked) => {
      const { on } = pathOf(place);
      try {
        await client.call({
          method: 'POST',
          path: `${on}${awarded(asked)}/award_emoji`,
          body: { name: 'eyes' },
          answer: z.unknown(),
        });
      } catch (error) {
        // So GitLab says that it has ours already.
        if (!(error instanceof ProviderRefusal && error.kind === 'missing' && /taken/i.test(error.message)))
          throw error;
      }
    },
    post: async (place, answer) => {
      const { on, internal } = pathOf(place);
      // What is confidential is answered to those alone who may read it.
      const { body } = await client.call({
        method: 'POST',
        path: `${on}/notes`,
        body: { ...bodyOf(answer), ...(internal ? { internal } : {}) },
        answer: written,
      });
      return noteAt(body.id);
    },
    update: async (place, noteId, answer) => {
      const path = `${pathOf(place).on}/notes/${encodeURIComponent(noteId)}`;
      return noteAt((await client.call({ method: 'PUT', path, body: bodyOf(answer), answer: written })).body.id);
    },
    find: async (place, marker, since) => {
      const mark = markOf(marker);
      let found: string | null = null;
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const path = `${pathOf(place).on}/notes?order_by=created_at&sort=desc&per_page=${PAGE}&page=${page}`;
        const { body } = await client.call({ method: 'GET', path, answer: z.array(note) });
        const recent = body.filter(
          (each) => each.created_at !== null && Date.parse(each.created_at) >= since.getTime(),
        );
        // The newest come first: the last that is found is the oldest.
        found = recent.findLast((each) => each.body.includes(mark))?.id ?? found;
        if (recent.length < PAGE) break;
      }
      return found === null ? null : noteAt(found);
    },
  };
}

/** Asked by the id, which never changes hands. */
export async function gitlabPermission(
  client: ProviderClient,
  repository: string,
  actor: Pick<Actor, 'id'>,
): Promise<Permission> {
  const path = `${project(repository)}/members/all/${part(actor.id)}`;
  try {
    const {
      id: userId,
      access_level: level,
      state,
    } = (await client.call({ method: 'GET', path, answer: member })).body;
    return {
      userId,
      access: state !== 'active' ? 'none' : level >= MAINTAINER ? 'admin' : level >= DEVELOPER ? 'write' : 'read',
    };
  } catch (error) {
    if (error instanceof ProviderRefusal && error.kind === 'missing') return { userId: actor.id, access: 'none' };
    throw error;
  }
}

const bodyOf = (answer: Answer): { body: string } => ({ body: markdownOf(answer) });
const awarded = (asked: Asked): string => (asked.kind === 'subject' ? '' : `/notes/${encodeURIComponent(asked.id)}`);
/** The API names no address of a note. */
const noteAt = (noteId: string): Written => ({ id: noteId, url: null });
