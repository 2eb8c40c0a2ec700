import { createHash } from 'node:crypto';
import { z } from 'zod';
import { markdownOf } from '../../answers/markdown-answer.js';
import type { Answer, AnswerState, ThreadAnswers } from '../../answers/thread-answers.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal, type RefusalKind } from '../../calls/provider-refusal.js';
import { fields, id, list, maybe, name, text, url } from '../../reading/fields.js';

const failures = list(fields({ message: text, extensions: maybe(fields({ code: maybe(name), type: maybe(name) })) }));
const result = fields({ errors: failures, data: maybe(fields({ comment: maybe(fields({ id, url })) })) });

type Result = z.output<typeof result>;

const Place = z.union([z.object({ session: z.string().min(1) }), z.object({ session: z.undefined().optional(), issue: z.string().min(1) })]);

const REACT = 'mutation($input: ReactionCreateInput!) { reactionCreate(input: $input) { success } }';
const COMMENT = 'mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }';
const UPDATE = 'mutation($id: String!, $input: CommentUpdateInput!) { commentUpdate(id: $id, input: $input) { success } }';
const FIND = 'query($id: String!) { comment(id: $id) { id url } }';
const ACTIVITY = 'mutation($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { success } }';

/** What an activity is, by the state of the run: a response or an error ends Linear's own session. */
const ACTIVITIES: Readonly<Record<AnswerState, string>> = { working: 'thought', waiting: 'elicitation', done: 'response', failed: 'error' };

/**
 * Comments on issues, and activities in agent sessions, which are not edited: each state is one more. We name both ourselves, so that what is sent again is the same.
 * @param client of `api.linear.app`.
 */
export function linearAnswers(client: ProviderClient): ThreadAnswers {
  const call = async (query: string, variables: object): Promise<Result> =>
    heard((await asked(client.call({ method: 'POST', path: '/graphql', body: { query, variables }, answer: result }))).body);
  const once = async (query: string, variables: object): Promise<void> => {
    try {
      await call(query, variables);
    } catch (error) {
      if (!(error instanceof ProviderRefusal && /already exists|duplicate|not unique/i.test(error.message))) throw error;
    }
  };
  const act = (session: string, mark: string, state: AnswerState, body: string): Promise<void> =>
    once(ACTIVITY, { input: { id: idOf(session, mark, body), agentSessionId: session, content: { type: ACTIVITIES[state], body } } });
  const bodyOf = (answer: Answer): string => markdownOf(answer);
  return {
    acknowledge: async (place, what) => {
      const at = Place.parse(place);
      if (at.session !== undefined) return act(at.session, 'seen', 'working', 'Slipway has seen this.');
      const on = what.kind === 'subject' ? { issueId: at.issue } : { commentId: what.id };
      await once(REACT, { input: { id: idOf('seen', ...Object.values(on)), ...on, emoji: 'eyes' } });
    },
    post: async (place, answer) => {
      const at = Place.parse(place);
      const commentId = idOf('comment', answer.marker);
      if (at.session === undefined) await once(COMMENT, { input: { id: commentId, issueId: at.issue, body: bodyOf(answer) } });
      else await act(at.session, answer.marker, answer.state, bodyOf(answer));
      return { id: at.session ?? commentId, url: null };
    },
    update: async (place, commentId, answer) => {
      const at = Place.parse(place);
      if (at.session === undefined) await call(UPDATE, { id: commentId, input: { body: bodyOf(answer) } });
      else await act(at.session, answer.marker, answer.state, bodyOf(answer));
      return { id: commentId, url: null };
    },
    find: async (place, marker) => {
      if (Place.parse(place).session !== undefined) return null;
      try {
        const { data } = await call(FIND, { id: idOf('comment', marker) });
        return data?.comment ?? null;
      } catch (error) {
        if (error instanceof ProviderRefusal && error.kind === 'missing') return null;
        throw error;
      }
    },
  };
}

/** The same for the same parts: a UUID, as Linear takes ids of ours. */
function idOf(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** Linear answers 400 where it limits calls. */
async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderRefusal && error.status === 400 && /RATELIMITED/.test(error.message)) throw limited(error.message);
    throw error;
  }
}

const limited = (message: string): ProviderRefusal => new ProviderRefusal(message, { kind: 'limited', status: 400, retryAt: null, outcomeUnknown: false });

/** GraphQL's refusals come with 200. */
function heard(body: Result): Result {
  const [first] = body.errors;
  if (first === undefined) return body;
  const { code, type } = first.extensions ?? { code: null, type: null };
  const message = `graphql: ${first.message.slice(0, 300)}`;
  if (code === 'RATELIMITED') throw limited(message);
  const kind: RefusalKind =
    code === 'AUTHENTICATION_ERROR' || type === 'authentication error'
      ? 'credential'
      : code === 'FORBIDDEN' || type === 'forbidden'
        ? 'forbidden'
        : /not found/i.test(first.message)
          ? 'missing'
          : code === 'INTERNAL_SERVER_ERROR'
            ? 'unavailable'
            : 'invalid';
  throw new ProviderRefusal(message, { kind, status: 200, retryAt: null, outcomeUnknown: kind === 'unavailable' });
}
