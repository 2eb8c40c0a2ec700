import { runInNewContext } from 'node:vm';
import type { EventOf, HookDefinition, HookMatcher, HookType } from '@slipway/contracts/events';
import { hookKey } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { cutMiddle } from '../condenser/transcript.js';
import { stamp } from '../events.js';
import type { AgentPorts, HookPort, RunSettings } from '../ports.js';
import { askModel } from './ask-model.js';
import type { HookResult } from './hook-result.js';

export interface HookMoment {
  readonly type: HookType;
  /** Names of the tool that a matcher may use. */
  readonly tools?: readonly string[];
  readonly actionId?: string;
  readonly messageId?: string;
  /** Input of this moment's hooks, besides the session. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface HookVerdict {
  /** Why it may not go on; `null` when it may. */
  readonly blocked: string | null;
  /** Passed to the model. Empty for most. */
  readonly context: string;
}

/** Exit code that says no. */
const BLOCKS = 2;
/** Longest time that a matcher may take. Milliseconds. */
const MATCH_MS = 50;
/** Most of what a hook prints that is kept. Characters. */
const MAX_OUTPUT = 10_000;
/** Longest part of a prompt that its event shows. Characters. */
const MAX_NAME = 500;
/** Limit of one text passed to a hook. Characters. */
const MAX_INPUT = 20_000;
/** Moments at which what a hook prints is for the model, also when it is no JSON. */
const SPEAKS: readonly HookType[] = ['UserPromptSubmit', 'SessionStart'];

/**
 * Runs what is there for a moment, one after the other, each with an event in the log; the first that blocks is the
 * last. A hook that fails otherwise, cannot be run or takes too long does not block: it is a check of the repository,
 * and the barrier against the agent is elsewhere.
 * @throws the signal's reason, and what the log rejects with.
 */
export async function runHooks(
  ports: AgentPorts,
  settings: RunSettings,
  moment: HookMoment,
  signal: AbortSignal,
): Promise<HookVerdict> {
  const port = ports.hooks;
  const context: string[] = [];
  if (port === null) return { blocked: null, context: '' };
  const resultOf = (hook: HookDefinition): Promise<HookResult> => {
    if (hook.type === 'prompt') return askModel(ports, hook, inputOf(port, moment), signal);
    if (hook.type === 'agent')
      return port.judge(hook, inputOf(port, moment), { ports, settings, signal, actionId: moment.actionId ?? '' });
    return attempt(port, hook, moment, signal);
  };
  const matching = (port.config[hookKey(moment.type)] as HookMatcher[]).filter(({ matcher }) =>
    matches(matcher, moment.tools),
  );
  for (const hook of matching.flatMap(({ hooks }) => hooks)) {
    const what = nameOf(hook);
    if (what === null) continue;
    const result = await resultOf(hook);
    const said = read(result, moment.type);
    await ports.log.append([eventOf(ports, moment, { command: what, result, said })]);
    if (said.context !== '') context.push(said.context);
    if (said.blocked !== null) return { blocked: said.blocked, context: context.join('\n\n') };
  }
  return { blocked: null, context: context.join('\n\n') };
}

/** A hook as its event names it; `null` for one that is not run here. */
function nameOf({ type, command, prompt, system_prompt: system }: HookDefinition): string | null {
  if (type === 'command') return command.trim() === '' ? null : command;
  const instruction = (prompt ?? '').trim() || (type === 'agent' ? (system ?? '').trim() : '');
  return (type === 'prompt' || type === 'agent') && instruction !== ''
    ? `${type}: ${cutMiddle(instruction, MAX_NAME)}`
    : null;
}

function inputOf(port: HookPort, { type, tools, input }: HookMoment): object {
  const [tool] = tools ?? [];
  return {
    // As OpenHands names it, and as Claude Code does.
    event_type: type,
    hook_event_name: type,
    session_id: port.sessionId,
    working_dir: port.workingDir,
    cwd: port.workingDir,
    ...(tool === undefined ? {} : { tool_name: tool }),
    ...(shorten(input) as object),
  };
}

async function attempt(
  port: HookPort,
  { command, timeout: timeoutS }: HookDefinition,
  moment: HookMoment,
  signal: AbortSignal,
): Promise<HookResult> {
  try {
    const { exitCode, timedOut, stdout, stderr } = await port.run(command, inputOf(port, moment), timeoutS, signal);
    return {
      exitCode,
      stdout,
      stderr,
      error: timedOut ? `The hook did not end within ${timeoutS} s and was killed.` : null,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SlipwayError)) throw error;
    return { exitCode: -1, stdout: '', stderr: '', error: error.detail };
  }
}

/** What a hook says by its exit code, or as JSON. */
function read({ exitCode, stdout, stderr, error }: HookResult, type: HookType): HookVerdict {
  if (error !== null) return { blocked: null, context: '' };
  if (exitCode === BLOCKS)
    return { blocked: stderr.trim() || stdout.trim() || 'A hook of the repository refused it.', context: '' };
  if (exitCode !== 0) return { blocked: null, context: '' };
  const json = asObject(stdout);
  if (json === null)
    return { blocked: null, context: SPEAKS.includes(type) ? cutMiddle(stdout.trim(), MAX_OUTPUT) : '' };
  const inner = asRecord(json['hookSpecificOutput']);
  const no =
    ['block', 'deny'].includes(String(json['decision'] ?? '')) ||
    inner['permissionDecision'] === 'deny' ||
    json['continue'] === false;
  const reason = [json['reason'], inner['permissionDecisionReason'], json['stopReason']].find(
    (each) => typeof each === 'string' && each !== '',
  );
  const context = [json['additionalContext'], json['additional_context'], inner['additionalContext']].find(
    (each) => typeof each === 'string',
  );
  return {
    blocked: no ? String(reason ?? 'A hook of the repository refused it.') : null,
    context: cutMiddle(String(context ?? ''), MAX_OUTPUT),
  };
}

function eventOf(
  ports: AgentPorts,
  moment: HookMoment,
  { command, result, said }: { readonly command: string; readonly result: HookResult; readonly said: HookVerdict },
): EventOf<'HookExecutionEvent'> {
  return stamp(ports, {
    kind: 'HookExecutionEvent',
    source: 'hook',
    hook_event_type: moment.type,
    hook_command: command,
    tool_name: moment.tools?.[0] ?? null,
    success: result.error === null && (result.exitCode === 0 || said.blocked !== null),
    blocked: said.blocked !== null,
    exit_code: result.exitCode,
    stdout: cutMiddle(result.stdout, MAX_OUTPUT),
    stderr: cutMiddle(result.stderr, MAX_OUTPUT),
    reason: said.blocked,
    additional_context: said.context === '' ? null : said.context,
    error: result.error,
    action_id: moment.actionId ?? null,
    message_id: moment.messageId ?? null,
  }) as EventOf<'HookExecutionEvent'>;
}

/**
 * The expression comes out of a repository and may be made to take for ever: beyond names and `|` it is tried where it
 * can be broken off. One that takes longer than `MATCH_MS` matches: its hook then decides by itself.
 */
function matches(matcher: string, tools: readonly string[] | undefined): boolean {
  if (tools === undefined || matcher === '' || matcher === '*') return true;
  if (/^[\w|-]+$/.test(matcher)) return matcher.split('|').some((name) => tools.includes(name));
  try {
    return (
      runInNewContext(
        'tools.some((tool) => new RegExp(whole).test(tool))',
        { whole: `^(?:${matcher})$`, tools: [...tools] },
        { timeout: MATCH_MS },
      ) === true
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' || tools.includes(matcher);
  }
}

function asObject(text: string): Record<string, unknown> | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return null;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return cutMiddle(value, MAX_INPUT);
  if (Array.isArray(value)) return value.slice(0, 100).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item)]));
}
