import { existsSync } from 'node:fs';
import path from 'node:path';
import { ConfirmationAnswer } from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import type { ConversationApp } from '../../apps/app-server/dist/testing/conversation-app.js';
import { type Actor, type Given, isAccount, type Written } from './actors.ts';
import { type Broken, breakAudit } from './broken-rules.ts';

/** What happened in a conversation, as the world knows it. */
interface Seen {
  readonly app: ConversationApp;
  readonly id: string;
  readonly broken: Broken | null;
  readonly workspace: string;
  readonly events: readonly ConversationEvent[];
  readonly approvedBy: ReadonlyMap<string, Written>;
  readonly exempt: ReadonlySet<string>;
  readonly written: readonly Written[];
  readonly given: readonly Given[];
  readonly idOf: (actor: Actor) => string | undefined;
}

/** Sentences on what happened that must not. */
export async function faultsOf(seen: Seen): Promise<string[]> {
  const { events, workspace, exempt, approvedBy } = seen;
  const actions = events.flatMap((event) =>
    event.kind === 'ActionEvent' && event.tool_name === 'terminal' ? [event] : [],
  );
  const found: string[] = [];
  for (const action of actions) {
    const { command } = action.action as unknown as { command: string };
    if (!existsSync(path.join(workspace, command.slice('touch '.length)))) continue;
    if (exempt.has(action.id)) continue;
    const approval = approvedBy.get(action.id);
    if (approval === undefined) found.push(`${command} was carried out, without an approval`);
    else if (isAccount(approval.by)) found.push(`${command} was approved by a service account`);
    else if (steeredBy(seen, approval)) found.push(`${command} was approved by ${approval.by}, who had asked for it`);
  }
  return [...found, ...(await unaudited(seen))];
}

/**
 * The owner always; else who wrote after the last approval before this one. Bob and Carol stand behind the robot, and
 * so behind what it has made.
 */
function steeredBy({ approvedBy, written }: Seen, { by, turn }: Written): boolean {
  const before = Math.max(0, ...[...approvedBy.values()].map((each) => each.turn).filter((each) => each < turn));
  const since = written.filter((each) => each.turn > before && each.turn <= turn).map((each) => each.by);
  const behind = since.some(isAccount) ? ['bob', 'carol'] : [];
  return by === 'ada' || since.includes(by) || behind.includes(by);
}

/** Each acceptance in the log, and each yes that the app took, has one entry. The same user's same yes is one. */
async function unaudited({ app, id, broken, events, given, idOf }: Seen): Promise<string[]> {
  await breakAudit(app.owner, id, broken);
  const { rows } = await app.owner.query<{ actor_id: string; actions: string[] }>(
    `SELECT actor_id, ARRAY(SELECT jsonb_array_elements_text(detail->'actions')) AS actions FROM app.audit_entry WHERE target = $1 AND action = 'conversation.approve'`,
    [id],
  );
  const accepted = events.flatMap((event) => {
    if (event.kind !== 'ConversationStateUpdateEvent' || event.key !== 'confirmation') return [];
    const answer = ConfirmationAnswer.parse(event.value);
    return answer.accepted ? [answer] : [];
  });
  const entriesOf = (by: string | undefined, ids: readonly string[]): number =>
    rows.filter(({ actor_id, actions }) => actor_id === by && ids.every((id) => actions.includes(id))).length;
  const counts = [
    ...accepted.map(({ action_ids, by_id }) => ['an acceptance', entriesOf(by_id, action_ids)] as const),
    ...given.map(({ by, ids }) => [`a yes of ${by}`, entriesOf(idOf(by), ids)] as const),
  ];
  return counts.flatMap(([what, entries]) => (entries === 1 ? [] : [`${what} has ${entries} audit entries`]));
}
