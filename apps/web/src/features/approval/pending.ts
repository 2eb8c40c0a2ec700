import type { ConfirmationRule } from '@slipway/contracts/conversations';
import type { EventOf } from '@slipway/contracts/events';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import type { ConversationView } from '../conversation/conversation-view.ts';
import type { Step } from '../conversation/timeline-row.ts';

/** One action that waits for a person. */
export interface Pending {
  readonly id: string;
  readonly tool: string;
  /** The call as the timeline has it. */
  readonly step: Step;
  /** What would happen: the command, or the action's own text. */
  readonly what: string;
  readonly summary: string | null;
  readonly risk: EventOf<'ActionEvent'>['security_risk'];
  /** Sentences that say why it is asked for. */
  readonly reasons: readonly string[];
  /** The rule that asks; `null`: not known. */
  readonly policy: MessageKey | null;
  /** Where a command runs, as its terminal said last; `null`: it did not, or this is no command. */
  readonly directory: string | null;
}

/** What waits, in order; none when the agent does not ask, or its calls are above the loaded part. */
export function pendingOf(view: Pick<ConversationView, 'state' | 'timeline' | 'analysis'>): Pending[] {
  if (view.state.execution !== 'waiting_for_confirmation') return [];
  const open = new Set(view.timeline.open.map(({ actionId }) => actionId));
  return view.timeline.rows.flatMap((row) =>
    row.kind === 'steps'
      ? row.steps
          .filter((step) => open.has(step.id))
          .map((step) => toPending(step, view.analysis, directoryOf(step, view.timeline.rows)))
      : [],
  );
}

/** The rules that ask, by what the analysis calls them. */
const POLICIES: Readonly<Record<string, MessageKey>> = {
  AlwaysConfirm: 'approval.asksBeforeEveryStep',
  ConfirmRisky: 'approval.asksWhenRisky',
};

function toPending(step: Step, analysis: ConversationView['analysis'], directory: string | null): Pending {
  return {
    id: step.id,
    tool: step.tool,
    step,
    what: whatOf(step),
    summary: step.summary,
    risk: analysis?.risks[step.id] ?? 'UNKNOWN',
    reasons: analysis?.details[step.id]?.reasons ?? [],
    policy: POLICIES[analysis?.policy ?? ''] ?? null,
    directory,
  };
}

const sessionOf = (step: Step): string => {
  const session = step.action?.['session'];
  return typeof session === 'string' ? session : 'main';
};

/** Where the terminal of a command stood after its last answer. */
function directoryOf(step: Step, rows: ConversationView['timeline']['rows']): string | null {
  if (step.action?.kind !== 'TerminalAction') return null;
  for (const row of rows.toReversed()) {
    if (row.kind !== 'steps') continue;
    for (const before of row.steps.toReversed()) {
      if (before.observation?.kind !== 'TerminalObservation' || sessionOf(before) !== sessionOf(step)) continue;
      const { working_dir: directory } = (before.observation['metadata'] ?? {}) as { working_dir?: unknown };
      return typeof directory === 'string' && directory !== '' ? directory : null;
    }
  }
  return null;
}

function whatOf({ action }: Step): string {
  if (action === null) return '';
  const text = action['command'];
  if (action.kind === 'TerminalAction' && typeof text === 'string') return text;
  const { kind: _, ...fields } = action;
  return JSON.stringify(fields, null, 2);
}

type Always = Omit<ConfirmationRule, 'by'> & { readonly label: string };

/**
 * What "do not ask again here" may mean for a single command: this one, and those with the same first words where a
 * shell reads them as words only.
 */
export function alwaysChoices(t: Translate, pending: readonly Pending[]): Always[] {
  const [only] = pending;
  if (only === undefined || pending.length > 1 || only.tool !== 'terminal' || only.what.trim() === '') return [];
  const command = only.what.trim();
  const exact: Always = {
    tool_name: only.tool,
    match: 'exact',
    value: command,
    label: t('approval.approveAndDoNotAsk'),
  };
  if (only.risk === 'HIGH' || /[;&|<>`$(){}\n\r\\]/.test(command)) return [exact];
  const words = command.split(/\s+/);
  const prefix = words.slice(0, words.length > 1 && !/^[-/.]/.test(words[1] ?? '-') ? 2 : 1).join(' ');
  return [
    exact,
    { tool_name: only.tool, match: 'prefix', value: prefix, label: t('approval.approveAndDoNotAskAgain', { prefix }) },
  ];
}
