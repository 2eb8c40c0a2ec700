import { type ModelRequest, type ModelTurn, until } from '@slipway/testing';
import { finish, type Harness, terminal } from '../stack/script-book.ts';
import type { Talk } from '../stack/talk.ts';
import type { StackOnCluster } from './stack-on-cluster.ts';

export const REPOSITORY = 'sample.git';
/** Steps that are done when something happens to a run. */
const STEPS_BEFORE = 2;

/** A file for each step, whoever else says something meanwhile; each takes 0.4 s and more. */
export const stepsOfWork = (count: number): Harness => {
  return (request: ModelRequest): ModelTurn => {
    const done = (request.body.messages ?? []).filter(({ role }) => role === 'assistant').length;
    return done < count ? terminal(`sleep 0.4; echo ${done} > step-${done}.txt`) : finish();
  };
};

/** A conversation whose agent is in the middle of its work. */
export async function atWork(on: StackOnCluster, name: string, harness: Harness = stepsOfWork(8)): Promise<Talk> {
  const talk = await on.open.talk(name, harness, { repository: `${on.open.git.url}/${REPOSITORY}` });
  await until('some steps are done', () => talk.of('ObservationEvent').length >= STEPS_BEFORE);
  return talk;
}

/** What the agent's commands printed, one text a command. */
export function outputs(talk: Talk): string[] {
  return talk.of('ObservationEvent').flatMap(({ observation }) => {
    if (observation['kind'] !== 'TerminalObservation') return [];
    return [(observation['content'] as { text?: string }[]).map(({ text = '' }) => text).join('')];
  });
}

/** Every sentence that the user read beside a start step, oldest first. */
export function stepDetails(talk: Talk): string[] {
  return talk.of('ConversationStateUpdateEvent').flatMap(({ key, value }) => {
    const detail = key === 'start_task' ? (value as { detail?: string }).detail : undefined;
    return detail === undefined ? [] : [detail];
  });
}
