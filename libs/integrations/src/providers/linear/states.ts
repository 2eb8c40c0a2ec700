import { z } from 'zod';
import type { TicketStage } from '../../answers/thread-answers.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, flag, id, list, maybe, name } from '../../reading/fields.js';
import type { LinearCall } from './graphql.js';

const ISSUE = `query($id: String!, $type: String!) {
  viewer { id app }
  issue(id: $id) { delegate { id } state { type } team { states(first: 100, filter: { type: { eq: $type } }) { nodes { id position } } } }
}`;
const UPDATE = 'mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }';

const answer = fields({
  viewer: fields({ id, app: flag }),
  issue: fields({
    delegate: maybe(fields({ id })),
    state: fields({ type: name }),
    team: fields({ states: fields({ nodes: list(fields({ id, position: z.number() })) }) }),
  }),
});

/** Types of the states that a stage moves out of, and the one that it moves to. A canceled issue stays canceled. */
const MOVES: Readonly<Record<TicketStage, { readonly from: readonly string[]; readonly to: string }>> = {
  started: { from: ['triage', 'backlog', 'unstarted'], to: 'started' },
  done: { from: ['triage', 'backlog', 'unstarted', 'started'], to: 'completed' },
};

/**
 * Moves an issue to the first state of the stage, and assigns it where it is unassigned. One call to read, and at most
 * one to change: no-op when already so.
 */
export async function moveIssue(call: LinearCall, issueId: string, stage: TicketStage): Promise<void> {
  const { from, to } = MOVES[stage];
  const read = answer.safeParse(await call(ISSUE, { id: issueId, type: to }));
  if (!read.success)
    throw new ProviderRefusal('graphql: the issue is none', {
      kind: 'unreadable',
      status: 200,
      retryAt: null,
      outcomeUnknown: false,
    });
  const { viewer, issue } = read.data;
  const [first] = issue.team.states.nodes.toSorted((one, other) => one.position - other.position);
  const input = {
    ...(from.includes(issue.state.type) && first !== undefined ? { stateId: first.id } : {}),
    // A user's own key cannot act for an app.
    ...(stage === 'started' && viewer.app && issue.delegate === null ? { delegateId: viewer.id } : {}),
  };
  if (Object.keys(input).length > 0) await call(UPDATE, { id: issueId, input });
}
