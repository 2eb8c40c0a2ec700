import { describe, expect, it } from '@jest/globals';
import {
  RUNTIME_STATUS_NAMES,
  RuntimeState,
  SANDBOX_STATUSES,
  START_STATUSES,
  type StartStep,
} from '@slipway/contracts/conversations';
import { ERROR_CODES, ERRORS } from '@slipway/contracts/errors';
import { type ConversationEvent, EXECUTION_STATUSES } from '@slipway/contracts/events';
import fc from 'fast-check';
import { type ConversationStatusState, INITIAL_STATUS, reduceConversationStatus } from './conversation-status.js';
import { runtimeState, runtimeStatusOf } from './runtime-status.js';

const base = {
  id: '0190a0a0-0000-7000-8000-000000000001',
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'environment' as const,
};
const update = (key: string, value: unknown): ConversationEvent => ({
  ...base,
  kind: 'ConversationStateUpdateEvent',
  key,
  value,
});
const execution = (value: string): ConversationEvent => update('execution_status', value);
const error = (code: string, detail: string): ConversationEvent => ({
  ...base,
  kind: 'ConversationErrorEvent',
  code,
  detail,
});
const step = (status: StartStep['status'], more: Partial<StartStep> = {}): StartStep => ({
  attempt: 1,
  status,
  state: 'done',
  startedAt: base.timestamp,
  ...more,
});
const READY = update('start_task', step('READY'));
const stateOf = (...events: ConversationEvent[]): ConversationStatusState =>
  events.reduce(reduceConversationStatus, INITIAL_STATUS);
const shown = (row: Partial<Parameters<typeof runtimeState>[0]>) =>
  runtimeState({ state: stateOf(READY), startStatus: 'READY', steps: [], sandboxStatus: 'RUNNING', ...row });

/** What goes on by itself, or has nothing to go on with. */
const UNDER_WAY = new Set([
  'BUILDING_RUNTIME',
  'STARTING_RUNTIME',
  'RUNTIME_STARTED',
  'SETTING_UP_WORKSPACE',
  'SETTING_UP_GIT_HOOKS',
  'READY',
  'LLM_RETRY',
]);

describe('the runtime of a conversation', () => {
  it('goes through the seed’s states in the seed’s order while it starts', () => {
    const seen = START_STATUSES.filter((status) => status !== 'ERROR' && status !== 'READY').map(
      (startStatus) => shown({ state: INITIAL_STATUS, startStatus }).status,
    );
    expect([...new Set(seen), shown({}).status]).toEqual(RUNTIME_STATUS_NAMES.slice(1, 7));
    const places = seen.map((status) => RUNTIME_STATUS_NAMES.indexOf(status));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('can be read of a row with a code that is not known here, as another release writes it: in its words', () => {
    const code = 'model.of-tomorrow' as never;
    const said = { code, detail: 'As it said.' };
    const state = stateOf(READY);
    expect(shown({ state: { ...state, execution: 'error', failure: said } })).toMatchObject({
      status: 'ERROR',
      code: 'internal.unexpected',
      cause: 'As it said.',
    });
    expect(shown({ state: { ...state, execution: 'paused', failure: said } })).toMatchObject({
      status: 'STOPPED',
      code: 'internal.unexpected',
      cause: 'As it said.',
    });
    expect(shown({ state: { ...state, execution: 'running', retry: said } })).toMatchObject({
      status: 'LLM_RETRY',
      cause: 'As it said.',
    });
    const steps = [step('PREPARING_REPOSITORY', { state: 'failed', ...said })];
    expect(shown({ startStatus: 'ERROR', steps })).toMatchObject({
      status: 'ERROR',
      code: 'sandbox.start-failed',
      cause: 'As it said.',
    });
  });

  it('that a user paused was not stopped by what was said of a failure while it went on', () => {
    const noted = [READY, execution('running'), error('model.unknown', 'The agent keeps the model that it has.')];
    const pause: ConversationEvent = { ...base, source: 'user', kind: 'PauseEvent' };
    expect(shown({ state: stateOf(...noted, pause, execution('paused')) })).toMatchObject({
      status: 'STOPPED',
      cause: 'A user paused it.',
    });
    const limit = [
      READY,
      execution('running'),
      error('agent.iteration-limit', 'All used.'),
      { ...pause, source: 'environment' as const },
      execution('paused'),
    ];
    expect(shown({ state: stateOf(...limit) })).toMatchObject({ status: 'STOPPED', code: 'agent.iteration-limit' });
    expect(shown({ state: stateOf(...noted, execution('error'), pause) })).toMatchObject({
      status: 'ERROR',
      cause: 'The agent keeps the model that it has.',
    });
  });

  it('that ended says by what and what to do: of a start, of a run, of a sandbox that is gone', () => {
    const failed = { state: stateOf(update('start_task', step('ERROR'))), startStatus: 'ERROR' as const };
    const steps = [
      step('PREPARING_REPOSITORY', { state: 'failed', code: 'repository.private', detail: 'It asks for a password.' }),
    ];
    expect(shown({ ...failed, steps })).toEqual({
      status: 'GIT_PROVIDER_AUTHENTICATION_ERROR',
      code: 'repository.private',
      cause: 'It asks for a password.',
      nextStep: ERRORS['repository.private'].nextStep,
    });
    const ended = stateOf(READY, execution('running'), error('model.auth', 'The key is wrong.'), execution('error'));
    expect(shown({ state: ended })).toMatchObject({ status: 'ERROR_LLM_AUTHENTICATION', cause: 'The key is wrong.' });
    expect(shown({ sandboxStatus: 'MISSING' })).toMatchObject({
      status: 'ERROR_RUNTIME_DISCONNECTED',
      code: 'sandbox.unreachable',
    });
    expect(shown({ state: reduceConversationStatus(ended, execution('running')) })).toEqual({ status: 'READY' });
  });

  it('is LLM_RETRY from a failure that is tried again until the call was answered, or the run ends', () => {
    const retry = update('llm_retry', { code: 'model.unavailable', detail: '503', attempt: 1, wait_ms: 500 });
    const waiting = stateOf(READY, execution('running'), retry);
    expect(shown({ state: waiting })).toEqual({ status: 'LLM_RETRY', code: 'model.unavailable', cause: '503' });
    expect(
      shown({
        state: reduceConversationStatus(
          waiting,
          update('stats', { accumulated_cost: 0, prompt_tokens: 1, completion_tokens: 1, model: 'm' }),
        ),
      }),
    ).toEqual({ status: 'READY' });
    expect(shown({ state: stateOf(READY, execution('running'), retry, execution('finished')) })).toEqual({
      status: 'READY',
    });
  });

  it('is STOPPED at a limit, after a stop and while its sandbox is paused, and says how to go on', () => {
    const limit = stateOf(
      READY,
      execution('running'),
      error('agent.iteration-limit', 'It used its 10 steps.'),
      { ...base, kind: 'PauseEvent' },
      execution('paused'),
    );
    expect(shown({ state: limit })).toMatchObject({
      status: 'STOPPED',
      cause: 'It used its 10 steps.',
      nextStep: ERRORS['agent.iteration-limit'].nextStep,
    });
    expect(shown({ state: stateOf(READY, { ...base, kind: 'InterruptEvent' }, execution('paused')) })).toMatchObject({
      status: 'STOPPED',
      nextStep: expect.any(String),
    });
    expect(shown({ sandboxStatus: 'PAUSED' })).toMatchObject({ status: 'STOPPED', nextStep: expect.any(String) });
  });

  it('reaches each of the seed’s failures by a code', () => {
    const failures = RUNTIME_STATUS_NAMES.filter((status) => !UNDER_WAY.has(status) && status !== 'STOPPED');
    expect([...new Set(ERROR_CODES.map(runtimeStatusOf))].sort()).toEqual([...failures].sort());
  });

  it('has a cause and a next step wherever it does not go on by itself, whatever the log says', () => {
    const event = fc.oneof(
      fc.constantFrom(...EXECUTION_STATUSES).map(execution),
      fc.constantFrom(...START_STATUSES).map((status) => update('start_task', step(status))),
      fc
        .tuple(fc.constantFrom(...ERROR_CODES), fc.string({ maxLength: 2_000 }))
        .map(([code, detail]) => error(code, detail)),
      fc.string().map((code) => error(code, 'x')),
      fc.anything().map((value) => update('llm_retry', value)),
      fc.constantFrom<ConversationEvent>(
        { ...base, kind: 'PauseEvent' },
        { ...base, kind: 'InterruptEvent' },
        update('stats', { accumulated_cost: 0, prompt_tokens: 1, completion_tokens: 1, model: 'm' }),
      ),
    );
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 12 }),
        fc.constantFrom(...START_STATUSES),
        fc.constantFrom(...SANDBOX_STATUSES),
        (events, startStatus, sandboxStatus) => {
          const found = RuntimeState.parse(
            runtimeState({ state: stateOf(...events), startStatus, steps: [], sandboxStatus }),
          );
          if (!UNDER_WAY.has(found.status))
            expect(found).toMatchObject({ cause: expect.any(String), nextStep: expect.stringMatching(/./) });
        },
      ),
    );
  });
});
