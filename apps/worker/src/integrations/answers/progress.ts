import { type ConversationStatus, ERROR_CODES, ERRORS, type ExecutionStatus } from '@slipway/contracts';
import type { ConversationStatusState } from '@slipway/domain';
import type { Answer } from '@slipway/integrations';

/** What a thread may learn of its conversation. */
export interface ProgressFacts {
  readonly status: ConversationStatus;
  readonly execution: ExecutionStatus;
  readonly failure: ConversationStatusState['failure'];
  /** What the agent said last, when it answered what this thread asked and nothing else. What was asked elsewhere is answered there alone. */
  readonly said: string | null;
  /** What the agent worked on last was asked elsewhere, in part or in whole. */
  readonly elsewhere: boolean;
  readonly pulls: readonly PullOfConversation[];
}

export interface PullOfConversation {
  readonly number: number | null;
  readonly url: string | null;
  readonly state: string;
  /** Code of what kept it from being published. */
  readonly problem: string | null;
}

export interface Progress {
  readonly answer: Omit<Answer, 'marker'>;
  /** Nobody waits for it: it may be shown some seconds late. */
  readonly calm: boolean;
}

/** What the progress comment says. Pure. @param url of the conversation; `null`: nobody has configured where Slipway is. */
export function progressOf(facts: ProgressFacts, url: string | null): Progress {
  const { headline, calm = false, said = null } = sentenceOf(facts);
  const unpublished = facts.pulls.flatMap(({ problem }) => ERROR_CODES.find((code) => code === problem) ?? [])[0];
  const more = unpublished === undefined ? '' : ` Its changes are not published: ${problemOf({ code: unpublished, detail: '' })}`;
  const links = [...facts.pulls.flatMap(linkOf), ...(url === null ? [] : [{ label: 'Open the conversation', url }])];
  return { calm, answer: { state: stateOf(facts), headline: `${headline}${more}`, said, links } };
}

function sentenceOf({ status, execution, failure, said, elsewhere }: ProgressFacts): { headline: string; calm?: boolean; said?: string | null } {
  switch (status) {
    case 'starting':
      return { headline: 'Slipway has seen this and is starting.', calm: true };
    case 'working':
      return { headline: 'Slipway is working on this.', calm: true };
    case 'waiting':
      if (execution === 'waiting_for_confirmation')
        return { headline: 'Slipway waits for approval of its next step. Approve or reject it in the conversation.' };
      return failure == null ? { headline: 'Slipway waits for a message.', calm: true } : { headline: `Slipway has stopped. ${problemOf(failure)}` };
    case 'finished':
      if (elsewhere) return { headline: 'Work on this goes on in Slipway.' };
      return said === null || said.trim() === '' ? { headline: 'Slipway has finished.' } : { headline: 'Slipway has finished. It says:', said };
    case 'failed':
      return { headline: `Slipway could not finish. ${problemOf(failure)}` };
    case 'paused':
    case 'stopped':
      return { headline: failure == null ? 'Slipway was stopped. A message here goes on.' : `Slipway has stopped. ${problemOf(failure)}` };
  }
}

function stateOf({ status, execution }: ProgressFacts): Answer['state'] {
  if (status === 'finished' || status === 'paused' || status === 'stopped') return 'done';
  if (status === 'failed') return 'failed';
  return execution === 'waiting_for_confirmation' ? 'waiting' : 'working';
}

function linkOf({ number, url, state }: PullOfConversation): Answer['links'] {
  if (url === null || !/^https?:\/\/[^\s()<>]+$/.test(url)) return [];
  return [{ label: `Pull request ${number === null ? '' : `#\u2060${number}`}${state === 'open' ? '' : ` (${state})`}`.trim(), url }];
}

/** By its code alone: the detail of a failure may name what only members may read. */
function problemOf(failure: ProgressFacts['failure']): string {
  if (failure == null) return 'The conversation says why.';
  const { title, nextStep } = ERRORS[failure.code];
  return `${title}. ${nextStep}`;
}
