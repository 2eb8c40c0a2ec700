import { type Activity, activityOf } from '@slipway/contracts/actions';
import { type ConversationStatus } from '@slipway/contracts/conversations';
import { ERROR_CODES, ERRORS } from '@slipway/contracts/errors';
import { type ExecutionStatus } from '@slipway/contracts/events';
import type { ConversationStatusState } from '@slipway/domain';
import { type Answer, shownText, type WaitingActions } from '@slipway/integrations';

/** What a thread may learn of its conversation. */
export interface ProgressFacts {
  readonly status: ConversationStatus;
  readonly execution: ExecutionStatus;
  readonly failure: ConversationStatusState['failure'];
  /**
   * What the agent said last, when it answered what this thread asked and nothing else. What was asked elsewhere is
   * answered there alone.
   */
  readonly said: string | null;
  /** What the agent worked on last was asked elsewhere, in part or in whole. */
  readonly elsewhere: boolean;
  readonly pulls: readonly PullOfConversation[];
  /**
   * Where the thread has buttons: what waits for a yes or a no; `null`: it was asked for elsewhere, or nothing waits.
   */
  readonly waits?: WaitingActions | null;
  /** Where the thread has buttons: the last answer of a user since the agent heard this request. */
  readonly answered?: { readonly accepted: boolean; readonly by: string } | null;
  /** Where the thread follows the work. */
  readonly work?: WorkDone;
}

/** What the agent has done for one request. */
export interface WorkDone {
  /** Names the request. */
  readonly heard: string;
  /** How many actions of each kind; `view` of a file is one of its own. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** What the agent of a conversation is at. */
export interface StepNow {
  readonly status: ConversationStatus;
  readonly execution: ExecutionStatus;
  /** Of its last action for what this thread asked; `view` of a file is one of its own. `null`: there is none. */
  readonly kind: string | null;
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
  /** Not urgent: it may be shown some seconds late. */
  readonly calm: boolean;
}

/**
 * Text of the progress comment. Pure. @param url of the conversation; `null`: the address of Slipway is not configured.
 */
export function progressOf(facts: ProgressFacts, url: string | null): Progress {
  const { headline, calm = false, said = null } = sentenceOf(facts);
  const answered = answeredBy(facts);
  const steps = facts.work === undefined ? '' : stepsOf(facts.work);
  const state = stateOf(facts);
  const unpublished = facts.pulls.flatMap(({ problem }) => ERROR_CODES.find((code) => code === problem) ?? [])[0];
  const more =
    unpublished === undefined ? '' : ` Its changes are not published: ${problemOf({ code: unpublished, detail: '' })}`;
  const links = [...facts.pulls.flatMap(linkOf), ...(url === null ? [] : [{ label: 'Open the conversation', url }])];
  const stopped = facts.status === 'paused' || facts.status === 'stopped';
  const ended = stopped && steps !== '' ? ` Done so far: ${steps}.` : '';
  const working = steps === '' || state !== 'working' ? {} : { steps };
  // Buttons that were pressed are gone at once.
  return {
    calm: calm && answered === '',
    answer: { state, headline: `${headline}${answered}${ended}${more}`, said, links, ...working, ...buttonsOf(facts) },
  };
}

/** Whoever reads the thread learns who let the agent go on, or did not. */
function answeredBy({ answered, status, execution }: ProgressFacts): string {
  if (answered == null || execution === 'waiting_for_confirmation' || status === 'finished' || status === 'failed')
    return '';
  const by = shownText(answered.by.slice(0, MAX_NAME)).text.replace(/\s+/g, ' ').trim();
  return ` ${answered.accepted ? 'Approved' : 'Rejected'}${by === '' ? '' : ` by ${by}`}.`;
}

/** Longest name of a user that is shown. Characters. */
const MAX_NAME = 100;

function buttonsOf({ waits, status, execution }: ProgressFacts): Pick<Answer, 'buttons' | 'waits'> {
  if (waits === undefined) return {};
  if (execution === 'waiting_for_confirmation' && status === 'waiting') {
    if (waits === null) return {};
    const { text, whole, name: of } = waits;
    return { waits: text, buttons: [...(whole ? [{ kind: 'approve' as const, of }] : []), { kind: 'reject', of }] };
  }
  return status === 'starting' || status === 'working' ? { buttons: [{ kind: 'stop', of: '' }] } : {};
}

/** What a step of each kind is called, and what the agent does at it: in words and without any detail. */
const ACTIVITIES: Readonly<Record<Activity, { readonly one: string; readonly many: string; readonly now: string }>> = {
  command: { one: 'command', many: 'commands', now: 'is running a command…' },
  'file-change': { one: 'file change', many: 'file changes', now: 'is changing files…' },
  look: { one: 'look at files', many: 'looks at files', now: 'is looking at files…' },
  browser: { one: 'step in the browser', many: 'steps in the browser', now: 'is using the browser…' },
  'tool-call': { one: 'call of a tool', many: 'calls of tools', now: 'is calling a tool…' },
};

/** `view` stands for the file editor that only looks. */
function activityNow(kind: string): Activity | undefined {
  return kind === 'view' ? 'look' : activityOf(kind);
}

/** `null`: it does nothing. Without any detail of it, as the message that counts its steps. */
export function statusOf({ status, execution, kind }: StepNow): string | null {
  if (status === 'starting') return 'is starting…';
  if (status !== 'working' || execution === 'waiting_for_confirmation') return null;
  const activity = kind === null ? undefined : activityNow(kind);
  return activity === undefined ? 'is working…' : ACTIVITIES[activity].now;
}

function stepsOf({ kinds }: WorkDone): string {
  return Object.entries(ACTIVITIES)
    .flatMap(([activity, { one, many }]) => {
      const count = Object.entries(kinds).reduce(
        (sum, [kind, times]) => sum + (activityNow(kind) === activity ? times : 0),
        0,
      );
      return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
    })
    .join(', ');
}

/**
 * What the reply below one line comment says. @param sha where a push has left the branch; `null`: there was nothing to
 * push.
 */
export function replyOf(
  { said }: Pick<ProgressFacts, 'said'>,
  sha: string | null,
  url: string | null,
): Progress['answer'] {
  const headline = sha === null ? 'Slipway has changed nothing for this.' : `Changed in ${sha}.`;
  const words = said === null || said.trim() === '' ? null : said;
  return { state: 'done', headline, said: words, links: url === null ? [] : [{ label: 'Open the conversation', url }] };
}

function sentenceOf({ status, execution, failure, said, elsewhere, waits }: ProgressFacts): {
  headline: string;
  calm?: boolean;
  said?: string | null;
} {
  switch (status) {
    case 'starting':
      return { headline: 'Slipway has seen this and is starting.', calm: true };
    case 'working':
      return { headline: 'Slipway is working on this.', calm: true };
    case 'waiting':
      if (execution === 'waiting_for_confirmation' && waits != null)
        return waits.whole
          ? { headline: 'Slipway waits for approval of this:' }
          : {
              headline:
                'Slipway waits for approval of its next step, which is too long to be shown here. Approve it in the conversation, or reject it.',
            };
      if (execution === 'waiting_for_confirmation')
        return { headline: 'Slipway waits for approval of its next step. Approve or reject it in the conversation.' };
      return failure == null
        ? { headline: 'Slipway waits for a message.', calm: true }
        : { headline: `Slipway has stopped. ${problemOf(failure)}` };
    case 'finished':
      if (elsewhere) return { headline: 'Work on this goes on in Slipway.' };
      return said === null || said.trim() === ''
        ? { headline: 'Slipway has finished.' }
        : { headline: 'Slipway has finished. It says:', said };
    case 'failed':
      return { headline: `Slipway could not finish. ${problemOf(failure)}` };
    case 'paused':
    case 'stopped':
      return {
        headline:
          failure == null
            ? 'Slipway was stopped. A message here goes on.'
            : `Slipway has stopped. ${problemOf(failure)}`,
      };
  }
}

function stateOf({ status, execution }: ProgressFacts): Answer['state'] {
  if (status === 'finished' || status === 'paused' || status === 'stopped') return 'done';
  if (status === 'failed') return 'failed';
  return execution === 'waiting_for_confirmation' ? 'waiting' : 'working';
}

function linkOf({ number, url, state }: PullOfConversation): Answer['links'] {
  if (url === null || !/^https?:\/\/[^\s()<>]+$/.test(url)) return [];
  return [
    {
      label: `Pull request ${number === null ? '' : `#\u2060${number}`}${state === 'open' ? '' : ` (${state})`}`.trim(),
      url,
    },
  ];
}

/** By its code alone: the detail of a failure may name what only members may read. */
function problemOf(failure: ProgressFacts['failure']): string {
  if (failure == null) return 'The conversation says why.';
  const { title, nextStep } = ERRORS[failure.code];
  return `${title}. ${nextStep}`;
}
