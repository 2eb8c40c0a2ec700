import { createHash } from 'node:crypto';
import { z } from 'zod';
import { markdownOf, unmarkedMarkdownOf } from '../../answers/markdown-answer.js';
import type { Answer, AnswerState, ThreadAnswers } from '../../answers/thread-answers.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, id, maybe, url } from '../../reading/fields.js';
import { linearCalls } from './graphql.js';
import { moveIssue } from './states.js';

const Place = z.union([
  z.object({ session: z.string().min(1), issue: z.string().min(1).optional() }),
  z.object({ session: z.undefined().optional(), issue: z.string().min(1) }),
]);

const REACT = 'mutation($input: ReactionCreateInput!) { reactionCreate(input: $input) { success } }';
const COMMENT = 'mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }';
const UPDATE =
  'mutation($id: String!, $input: CommentUpdateInput!) { commentUpdate(id: $id, input: $input) { success } }';
const FIND = 'query($id: String!) { comment(id: $id) { id url } }';
const ACTIVITY = 'mutation($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { success } }';
const SESSION =
  'mutation($id: String!, $input: AgentSessionUpdateInput!) { agentSessionUpdate(id: $id, input: $input) { success } }';
const ATTACH = 'mutation($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { success } }';

const comment = fields({ comment: maybe(fields({ id, url })) });

/** What an activity is, by the state of the run: a response or an error ends Linear's own session. */
const ACTIVITIES: Readonly<Record<AnswerState, string>> = {
  working: 'thought',
  waiting: 'elicitation',
  done: 'response',
  failed: 'error',
};

/**
 * Comments on issues, and activities in agent sessions, which are not edited: each state is one more. We name both
 * ourselves, so that what is sent again is the same.
 * @param client of `api.linear.app`.
 */
export function linearAnswers(client: ProviderClient): ThreadAnswers {
  const call = linearCalls(client);
  const once = async (query: string, variables: object): Promise<void> => {
    try {
      await call(query, variables);
    } catch (error) {
      if (!(error instanceof ProviderRefusal && /already exists|duplicate|not unique/i.test(error.message)))
        throw error;
    }
  };
  const act = (session: string, mark: readonly string[], activity: object): Promise<void> =>
    once(ACTIVITY, {
      input: { id: idOf(session, ...mark, JSON.stringify(activity)), agentSessionId: session, ...activity },
    });
  const say = (session: string, answer: Answer): Promise<void> =>
    act(session, [answer.marker, String(answer.revision ?? 0)], activityOf(answer));
  return {
    acknowledge: async (place, what, deed) => {
      const at = Place.parse(place);
      if (at.session !== undefined)
        return act(at.session, ['seen', deed], { content: { type: 'thought', body: 'Slipway has seen this.' } });
      const on = what.kind === 'subject' ? { issueId: at.issue } : { commentId: what.id };
      await once(REACT, { input: { id: idOf('seen', ...Object.values(on)), ...on, emoji: 'eyes' } });
    },
    post: async (place, answer) => {
      const at = Place.parse(place);
      const commentId = idOf('comment', answer.marker);
      if (at.session === undefined)
        await once(COMMENT, { input: { id: commentId, issueId: at.issue, body: markdownOf(answer) } });
      else await say(at.session, answer);
      return { id: at.session ?? commentId, url: null };
    },
    update: async (place, commentId, answer) => {
      const at = Place.parse(place);
      if (at.session === undefined) await call(UPDATE, { id: commentId, input: { body: markdownOf(answer) } });
      else await say(at.session, answer);
      return { id: commentId, url: null };
    },
    find: async (place, marker) => {
      if (Place.parse(place).session !== undefined) return null;
      try {
        return comment.parse((await call(FIND, { id: idOf('comment', marker) })) ?? {}).comment;
      } catch (error) {
        if (error instanceof ProviderRefusal && error.kind === 'missing') return null;
        throw error;
      }
    },
    link: async (place, { label, url: to }) => {
      const { session, issue } = Place.parse(place);
      if (session !== undefined)
        await call(SESSION, { id: session, input: { addedExternalUrls: [{ label, url: to }] } });
      // An attachment of the same address is updated.
      else await call(ATTACH, { input: { issueId: issue, title: label, url: to } });
    },
    move: async (place, stage) => {
      const { issue } = Place.parse(place);
      if (issue !== undefined) await moveIssue(call, issue, stage);
    },
  };
}

function activityOf(answer: Answer): object {
  const { state, steps, linkAccountAt } = answer;
  // What it has done so far is of no use any more once it has done more.
  if (state === 'working' && steps !== undefined)
    return { content: { type: 'action', action: 'Working', parameter: steps }, ephemeral: true };
  const content = { type: ACTIVITIES[state], body: unmarkedMarkdownOf(answer) };
  return linkAccountAt === undefined
    ? { content }
    : { content, signal: 'auth', signalMetadata: { url: linkAccountAt, providerName: 'Slipway' } };
}

/** The same for the same parts: a UUID, as Linear takes ids of ours. */
function idOf(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
