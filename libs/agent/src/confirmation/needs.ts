import type { AgentAction } from '@slipway/contracts/actions';
import type {
  ConfirmationPolicy,
  ConfirmationRule,
  ConfirmationSettings,
  SecurityRisk,
} from '@slipway/contracts/conversations';
import { type Assessment, assess, atLeast } from '../security/analyze.js';

/** Nothing of these leaves the conversation: as in OpenHands no confirmation is needed. */
const HARMLESS: ReadonlySet<string> = new Set(['FinishAction', 'ThinkAction', 'TaskTrackerAction']);

export interface Judged extends Assessment {
  readonly asks: boolean;
}

/** Whether a user must confirm this action, and why. */
export function judge(
  settings: ConfirmationSettings,
  call: { toolName: string; action: AgentAction; modelRisk: SecurityRisk },
): Judged {
  const assessment = assess(settings.analyzer, { action: call.action, modelRisk: call.modelRisk });
  const asks =
    !HARMLESS.has(call.action.kind) &&
    asksFor(settings.policy, assessment.risk) &&
    !settings.rules.some((rule) => allows(rule, call.toolName, call.action, assessment.risk));
  return { ...assessment, asks };
}

/** An unknown risk is asked about unless the policy says otherwise. */
export function asksFor(policy: ConfirmationPolicy, risk: SecurityRisk): boolean {
  switch (policy.kind) {
    case 'NeverConfirm':
      return false;
    case 'AlwaysConfirm':
      return true;
    case 'ConfirmRisky':
      return risk === 'UNKNOWN' ? policy.confirm_unknown : atLeast(risk, policy.threshold);
  }
}

/** Words that a shell would not read as words: with one of them a prefix says nothing of the remaining command. */
const OPERATORS = /[;&|<>`$(){}\n\r\\]/;

/** Whether "always here" covers this call. A prefix ends at a word's end, and never covers a call rated HIGH. */
export function allows(rule: ConfirmationRule, toolName: string, action: AgentAction, risk: SecurityRisk): boolean {
  if (rule.tool_name !== toolName) return false;
  const subject = subjectOf(action);
  if (rule.match === 'exact') return subject === rule.value;
  if (action.kind !== 'TerminalAction' || action.is_input || risk === 'HIGH' || OPERATORS.test(subject)) return false;
  return subject === rule.value || subject.startsWith(`${rule.value} `);
}

/** What a rule is about: the command of a terminal, the path of an edit, of anything else its whole text. */
export function subjectOf(action: AgentAction): string {
  if (action.kind === 'TerminalAction') return action.is_input ? `input:${action.command}` : action.command.trim();
  if (action.kind === 'FileEditorAction') return `${action.command} ${action.path}`;
  return JSON.stringify(action);
}
