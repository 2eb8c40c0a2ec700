import { describe, expect, it } from '@jest/globals';
import { CONVERSATION_STATUSES } from '@slipway/contracts/conversations';
import { type LoggedEvent } from '@slipway/contracts/events';
import { type EgressRequest, noticeText } from '@slipway/contracts/sandboxes';
import { conversationStatus, INITIAL_STATUS, reduceConversationStatus } from '@slipway/domain/conversation-status';
import fc from 'fast-check';
import { applyEvents, type ConversationView, openView, prependEvents } from './conversation-view.ts';
import {
  action,
  answer,
  edit,
  exit,
  idOf,
  logOf,
  message,
  snapshotOf,
  startStep,
  terminal,
  update,
  view,
} from './sample-events.ts';
import { appendToTimeline, EMPTY_TIMELINE, joinTimelines } from './timeline.ts';
import { stepState, timesOf } from './timeline-row.ts';

const applyAll = (from: ConversationView, events: readonly LoggedEvent[]): ConversationView =>
  applyEvents(from, events).view;
const rowsOf = (parts: Parameters<typeof logOf>[0]) => applyAll(openView(snapshotOf(0)), logOf(parts)).timeline.rows;

describe('applyEvents', () => {
  it('ignores what it has seen and stops at the first hole', () => {
    const log = logOf(['a', 'b', 'c', 'd'].map((text) => message('user', text)));
    const first = applyEvents(openView(snapshotOf(0)), log.slice(0, 2));
    expect(first).toMatchObject({ gap: false, view: { lastSeq: 2 } });
    expect(applyEvents(first.view, log.slice(0, 2)).view).toBe(first.view);
    const holed = applyEvents(
      first.view,
      [log[1], log[3]].filter((logged) => logged !== undefined),
    );
    expect(holed.gap).toBe(true);
    expect(holed.view).toBe(first.view);
    expect(applyEvents(first.view, log.slice(1)).view.lastSeq).toBe(4);
  });

  it('never changes a view that was given out', () => {
    const log = logOf([terminal('c1', 'ls'), exit(1, 'c1', 0), view('c2', '/a'), view('c3', '/b')]);
    const views = log.map((_, index) => applyAll(openView(snapshotOf(0)), log.slice(0, index + 1)));
    const copies = structuredClone(views);
    applyAll(views[1] as ConversationView, log.slice(2));
    expect(views).toEqual(copies);
  });

  it('counts an event of an unknown kind as read and shows nothing', () => {
    const log = logOf([message('user', 'a'), { kind: 'HologramEvent' } as never, message('assistant', 'b')]);
    const result = applyEvents(openView(snapshotOf(0)), log);
    expect(result.view.lastSeq).toBe(3);
    expect(result.view.timeline.rows.map((row) => row.kind)).toEqual(['message', 'message']);
  });

  it('shows the one status that the reducer of the domain gives, after any sequence of events', () => {
    const part = fc.oneof(
      fc
        .constantFrom('idle', 'running', 'paused', 'finished', 'error', 'stuck', 'nonsense')
        .map((status) => update('execution_status', status)),
      fc.constantFrom('WORKING', 'PREPARING_REPOSITORY', 'READY', 'ERROR').map((status) => startStep(status)),
      fc.constantFrom({ kind: 'PauseEvent' } as const, { kind: 'InterruptEvent' } as const),
      fc.constant(message('user', 'hello')),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const log = logOf(parts);
        const { status } = applyAll(openView(snapshotOf(0)), log);
        expect(CONVERSATION_STATUSES).toContain(status);
        expect(status).toBe(
          conversationStatus(log.reduce((state, { event }) => reduceConversationStatus(state, event), INITIAL_STATUS)),
        );
      }),
    );
  });

  it('goes on from a snapshot as if it had read the whole log', () => {
    const log = logOf([
      startStep('WORKING'),
      startStep('READY'),
      update('execution_status', 'running'),
      { kind: 'InterruptEvent' },
      update('execution_status', 'paused'),
      update('execution_status', 'running'),
    ]);
    const stopped = openView(
      snapshotOf(5, { status: 'stopped', executionStatus: 'paused', start: { status: 'READY', steps: [] } }),
    );
    expect(stopped.status).toBe('stopped');
    expect(applyAll(stopped, log).status).toBe('working');
  });

  it('takes title, cost and tokens from the log', () => {
    const log = logOf([
      update('title', 'A better name'),
      update('stats', { accumulated_cost: 0.42, prompt_tokens: 10, completion_tokens: 3, model: 'm' }),
      update('stats', 'nonsense'),
    ]);
    expect(applyAll(openView(snapshotOf(0)), log)).toMatchObject({
      title: 'A better name',
      costUsd: 0.42,
      promptTokens: 10,
      completionTokens: 3,
    });
  });

  it('says when files may have changed: after commands and edits, not after reading', () => {
    const log = logOf([
      view('c1', '/a'),
      answer(1, 'c1', { kind: 'FileEditorObservation', command: 'view' }),
      terminal('c2', 'rm a'),
      exit(3, 'c2', 0),
    ]);
    const opened = openView(snapshotOf(0));
    expect(applyAll(opened, log.slice(0, 2)).filesTouchedAt).toBe(0);
    expect(applyAll(opened, log).filesTouchedAt).toBe(4);
    const planned = logOf([
      action('c1', { kind: 'PlanningFileEditorAction', command: 'create', path: '/PLAN.md', file_text: '1.' }),
      answer(1, 'c1', { kind: 'PlanningFileEditorObservation', command: 'create' }),
    ]);
    expect(applyAll(opened, planned)).toMatchObject({
      filesTouchedAt: 2,
      timeline: { rows: [{ kind: 'steps', fold: 'edit' }] },
    });
  });

  it('says when the prompt or tools changed, and when the runtime may stand elsewhere, also of a sandbox that went while the status stays', () => {
    const prompted = { kind: 'SystemPromptEvent' as const, system_prompt: { type: 'text', text: '' }, tools: [] };
    const log = logOf([
      message('user', 'a'),
      prompted,
      update('execution_status', 'running'),
      terminal('c1', 'ls'),
      update('execution_status', 'finished'),
    ]);
    const finished = applyAll(openView(snapshotOf(0)), log);
    expect(
      [1, 2, 3, 4, 5]
        .map((count) => applyAll(openView(snapshotOf(0)), log.slice(0, count)))
        .map(({ promptSeq, runtimeAt }) => [promptSeq, runtimeAt]),
    ).toEqual([
      [0, 0],
      [2, 0],
      [2, 3],
      [2, 3],
      [2, 5],
    ]);
    const paused = applyAll(finished, logOf([update('sandbox_status', 'PAUSED')], 6));
    expect([paused.runtimeAt, paused.status]).toEqual([6, finished.status]);
  });

  it('tells the time that a call waited for a user from the time that it took', () => {
    const at = (event: object, timestamp: string) => ({ ...event, timestamp });
    const approved = update('confirmation', { accepted: true, action_ids: [idOf(1)] });
    const log = logOf([
      action('a', { kind: 'TerminalAction', command: 'make' }),
      update('execution_status', 'waiting_for_confirmation'),
      approved,
    ]);
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:30.000Z'];
    const timed = log.map((logged, index) => ({
      ...logged,
      event: at(logged.event, times[index] ?? '') as (typeof logged)['event'],
    }));
    const row = appendToTimeline(EMPTY_TIMELINE, timed).rows[0];
    const step = row?.kind === 'steps' ? row.steps[0] : undefined;
    expect(step === undefined ? null : timesOf({ ...step, endedAt: '2026-01-01T00:00:32.000Z' })).toEqual({
      waited: 30_000,
      worked: 2_000,
    });
    expect(
      step === undefined
        ? null
        : timesOf({ ...step, approvedAt: undefined as never, endedAt: '2026-01-01T00:00:32.000Z' }),
    ).toEqual({
      waited: null,
      worked: 32_000,
    });
  });
});

describe('hadWorkspace', () => {
  it('is true from the end of the first start, and stays so through the next one', () => {
    const log = logOf([startStep('WORKING'), startStep('READY'), startStep('WORKING', 'running', 2)]);
    const opened = openView(snapshotOf(0));
    expect(applyAll(opened, log.slice(0, 1)).hadWorkspace).toBe(false);
    expect(applyAll(opened, log.slice(0, 2)).hadWorkspace).toBe(true);
    expect(applyAll(opened, log).hadWorkspace).toBe(true);
    expect(prependEvents(openView(snapshotOf(3)), log).hadWorkspace).toBe(true);
  });
});

describe('rows', () => {
  it('join a call with its answer', () => {
    const rows = rowsOf([terminal('c1', 'npm test'), exit(1, 'c1', 2)]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ kind: 'steps', steps: [{ id: idOf(1), endedAt: expect.any(String) }] });
    expect(rows[0]?.kind === 'steps' && rows[0].steps[0] ? stepState(rows[0].steps[0]) : null).toBe('failed');
  });

  it('take a command that still runs in its shell for no failure', () => {
    const rows = rowsOf([terminal('c1', 'npm start'), exit(1, 'c1', -1)]);
    expect(rows[0]?.kind === 'steps' && rows[0].steps[0] ? stepState(rows[0].steps[0]) : null).toBe('done');
  });

  it('fold consecutive reads and consecutive edits, and nothing across them', () => {
    const rows = rowsOf([
      view('c1', '/a'),
      view('c2', '/b'),
      edit('c3', '/a'),
      edit('c4', '/b'),
      edit('c5', '/c'),
      terminal('c6', 'ls'),
      terminal('c7', 'ls'),
    ]);
    expect(rows.map((row) => (row.kind === 'steps' ? [row.fold, row.steps.length] : null))).toEqual([
      ['read', 2],
      ['edit', 3],
      [null, 1],
      [null, 1],
    ]);
  });

  it('keep one start a row, with the last word on each step, although the first message comes in between', () => {
    const rows = rowsOf([
      startStep('WORKING'),
      startStep('STARTING_CONVERSATION', 'running'),
      message('user', 'go'),
      startStep('STARTING_CONVERSATION', 'done'),
      startStep('READY'),
      startStep('WORKING', 'running', 2),
    ]);
    expect(rows.map((row) => row.kind)).toEqual(['start', 'message', 'start']);
    expect(rows[0]).toMatchObject({
      attempt: 1,
      steps: [{ status: 'WORKING' }, { status: 'STARTING_CONVERSATION', state: 'done' }, { status: 'READY' }],
    });
  });

  it('mark a call without an answer as interrupted when the person stops the run', () => {
    const rows = rowsOf([terminal('c1', 'sleep 1000'), { kind: 'InterruptEvent' }]);
    expect(rows[0]?.kind === 'steps' && rows[0].steps[0] ? stepState(rows[0].steps[0]) : null).toBe('interrupted');
  });

  it('call a step that was broken off interrupted, not failed, and a pause that broke it off one pause', () => {
    const rows = rowsOf([
      terminal('c1', 'sleep 1000'),
      {
        kind: 'AgentErrorEvent',
        tool_name: 'terminal',
        tool_call_id: 'c1',
        error: 'interrupted: the user stopped the agent',
      },
      { kind: 'InterruptEvent' },
      { kind: 'PauseEvent' },
    ]);
    expect(rows[0]?.kind === 'steps' && rows[0].steps[0] ? stepState(rows[0].steps[0]) : null).toBe('interrupted');
    expect(rows.slice(1)).toMatchObject([{ kind: 'note', note: 'paused' }]);
  });

  it('put what a sub-agent did into the step that it works for, also when that is loaded later', () => {
    const inner = (event: object) =>
      update('sub_agent', { task_id: 't', action_id: idOf(1), subagent: 'explore', event });
    const log = logOf([
      action('c1', { kind: 'TaskAction', prompt: 'find it', subagent_type: 'explore' }),
      inner({
        id: idOf(90),
        timestamp: '2026-01-01T00:00:00.000Z',
        source: 'user',
        kind: 'MessageEvent',
        llm_message: { role: 'user', content: [] },
      }),
      inner({ id: 'not an event' }),
      inner({ id: idOf(91), timestamp: '2026-01-01T00:00:00.000Z', source: 'agent', kind: 'PauseEvent' }),
    ]);
    const whole = appendToTimeline(EMPTY_TIMELINE, log);
    expect(whole.rows).toHaveLength(1);
    expect(whole.rows[0]?.kind === 'steps' && whole.rows[0].steps[0]?.inside?.map(({ event }) => event.kind)).toEqual([
      'MessageEvent',
      'PauseEvent',
    ]);
    for (const at of [1, 2, 3])
      expect(
        joinTimelines(
          appendToTimeline(EMPTY_TIMELINE, log.slice(0, at)),
          appendToTimeline(EMPTY_TIMELINE, log.slice(at)),
        ),
      ).toEqual(whole);
  });

  it('separate what a user wrote from what Slipway sent the agent by itself', () => {
    const { rows } = appendToTimeline(
      EMPTY_TIMELINE,
      logOf([
        message('user', 'Go.', { source: 'user' }),
        message('user', 'Try another way.', { source: 'environment' }),
      ]),
    );
    expect(rows).toMatchObject([{ author: 'user' }, { author: 'slipway', text: 'Try another way.' }]);
  });

  it('say once what became of a network request: its notice to the agent has no row, any other text of it has one', () => {
    const asked: EgressRequest = {
      id: 'egq_1',
      host: 'api.example.com',
      port: 443,
      state: 'allowed',
      tries: 1,
      actionId: null,
      firstTime: true,
      createdAt: '2026-01-01T00:00:00.000Z',
      decidedAt: '2026-01-01T00:01:00.000Z',
      decidedBy: 'Ada',
      scope: 'conversation',
      reason: '',
    };
    const notice = (text: string) => message('user', text, { source: 'environment' });
    const log = logOf([
      notice(noticeText(asked)),
      update('egress_request', asked),
      message('assistant', 'Trying.'),
      notice(noticeText(asked)),
      notice(`${noticeText(asked)} And obey.`),
      notice(noticeText({ ...asked, host: 'other.example.com' })),
    ]);
    const whole = appendToTimeline(EMPTY_TIMELINE, log);
    expect(whole.rows.map(({ kind, seq }) => [kind, seq])).toEqual([
      // Nothing above it says so.
      ['message', 1],
      ['egress', 2],
      ['message', 3],
      ['message', 5],
      ['message', 6],
    ]);
    for (let at = 0; at <= log.length; at += 1)
      expect(
        joinTimelines(
          appendToTimeline(EMPTY_TIMELINE, log.slice(0, at)),
          appendToTimeline(EMPTY_TIMELINE, log.slice(at)),
        ),
      ).toEqual(whole);
  });

  it('tell once of a summary, and nothing of one that forgot nothing', () => {
    const summary = (forgotten: string[], text: string | null) => ({
      kind: 'Condensation' as const,
      forgotten_event_ids: forgotten,
      summary: text,
      summary_offset: 2,
      llm_response_id: 'r',
    });
    const rows = rowsOf([{ kind: 'CondensationRequest' }, summary(['a', 'b'], 'DONE: much'), summary([], null)]);
    expect(rows).toMatchObject([{ kind: 'summary', forgotten: 2, text: 'DONE: much' }]);
  });

  it('give an agent error to the call that it belongs to', () => {
    const rows = rowsOf([
      terminal('c1', 'ls'),
      { kind: 'AgentErrorEvent', tool_name: 'tool', tool_call_id: 'c1', error: 'no such tool' },
    ]);
    expect(rows).toMatchObject([{ kind: 'steps', steps: [{ error: 'no such tool' }] }]);
  });

  it('show a thought before its call, plans and the finish in forms of their own, and no row for their answers', () => {
    const rows = rowsOf([
      action('c1', {
        kind: 'TaskTrackerAction',
        command: 'plan',
        task_list: [{ title: 'One', notes: '', status: 'todo' }],
      }),
      answer(1, 'c1', { kind: 'TaskTrackerObservation' }),
      action('c2', { kind: 'TerminalAction', command: 'ls' }, { thought: [{ type: 'text', text: 'Look first' }] }),
      action('c3', { kind: 'FinishAction', message: 'All done' }),
      answer(4, 'c3', { kind: 'FinishObservation' }),
    ]);
    expect(rows.map((row) => row.kind)).toEqual(['tasks', 'message', 'steps', 'message']);
    expect(rows[3]).toMatchObject({ author: 'finish', text: 'All done' });
  });
});
