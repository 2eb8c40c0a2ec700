import { z } from 'zod';
import type { CodeHost, Place } from '../calls/code-host.js';
import type { Thread } from '../intent.js';
import { markdownOf, markOf } from './markdown-answer.js';
import type { ThreadAnswers } from './thread-answers.js';

const Stored = z.object({ repository: z.string(), number: z.number().int().positive() });

/** Answers on issues and pull requests of a git host: reactions and comments. */
export function forgeAnswers(host: CodeHost): ThreadAnswers {
  return {
    acknowledge: (place, asked) => host.react(placeOf(place), asked),
    post: (place, answer) => host.comment(placeOf(place), markdownOf(answer)),
    update: (place, id, answer) => host.updateComment(placeOf(place).repository, id, markdownOf(answer)),
    find: (place, marker, since) => host.findComment(placeOf(place), markOf(marker), since),
  };
}

/** @throws ZodError for a place that another provider has made. */
const placeOf = (place: Thread['place']): Place => Stored.parse(place);
