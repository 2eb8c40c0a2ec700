import { describe, expect, it } from '@jest/globals';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import fc from 'fast-check';
import { t } from '../../messages/testing.ts';
import { applyEvents, openView } from '../conversation/conversation-view.ts';
import { matchesIn } from '../conversation/find/matches.ts';
import { rowName } from '../conversation/row-name.ts';
import { action, answer, idOf, logOf, snapshotOf, update, view } from '../conversation/sample-events.ts';
import { workspacePaths } from '../conversation/workspace-path.ts';
import { cardOf, commandOf, dismiss, NO_MEMORY, refusalOf, remember } from './card-state.ts';
import { egressWords, hostText, isOnRecord } from './egress-words.ts';

const asked = (change: Partial<EgressRequest> = {}): EgressRequest => ({
  id: 'egq_1',
  host: 'api.example.com',
  port: 443,
  state: 'waiting',
  tries: 1,
  actionId: null,
  firstTime: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  decidedAt: null,
  decidedBy: null,
  scope: null,
  reason: '',
  ...change,
});
const allowed = (change: Partial<EgressRequest> = {}): EgressRequest =>
  asked({ state: 'allowed', scope: 'once', decidedBy: 'Ada', decidedAt: '2026-01-01T00:01:00.000Z', ...change });

describe('the card of requests', () => {
  const requests = fc.uniqueArray(
    fc
      .record({
        id: fc.nat(9).map((number) => `egq_${number}`),
        state: fc.constantFrom('waiting', 'allowed', 'denied', 'expired'),
        second: fc.nat(5),
      })
      .map(({ id, state, second }) => {
        const createdAt = `2026-01-01T00:00:0${second}.000Z`;
        return asked({ id, state, createdAt, decidedAt: state === 'waiting' ? null : createdAt });
      }),
    { selector: ({ id }) => id },
  );

  it('shows every request that waits, once, and never one line of what its user did not see wait', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(requests, fc.boolean())), (reads) => {
        let memory = NO_MEMORY;
        const seen = new Set<string>();
        for (const [list, putsAway] of reads) {
          memory = remember(memory, list);
          for (const { id, state } of list) if (state === 'waiting') seen.add(id);
          const { waiting, settled } = cardOf(list, memory);
          expect(waiting.map(({ id }) => id).toSorted()).toEqual(
            list
              .filter(({ state }) => state === 'waiting')
              .map(({ id }) => id)
              .toSorted(),
          );
          expect(settled.every(({ id, state }) => state !== 'waiting' && seen.has(id))).toBe(true);
          expect(settled.length).toBeLessThanOrEqual(4);
          expect(cardOf(list.toReversed(), memory)).toEqual({ waiting, settled });
          if (putsAway) {
            memory = dismiss(memory, list);
            const shown = new Set(cardOf(list, memory).settled.map(({ id }) => id));
            expect(settled.some(({ id }) => shown.has(id))).toBe(false);
            expect(cardOf(list, memory).waiting).toEqual(waiting);
          }
        }
      }),
    );
  });

  it('puts a new request below those that are there, and keeps its memory where nothing is new', () => {
    const first = asked({ id: 'egq_b' });
    const later = asked({ id: 'egq_a', createdAt: '2026-01-01T00:00:01.000Z' });
    expect(cardOf([later, first], NO_MEMORY).waiting).toEqual([first, later]);
    const memory = remember(NO_MEMORY, [first]);
    expect(remember(memory, [first])).toBe(memory);
    expect(remember(memory, [allowed({ id: 'egq_c' })])).toBe(memory);
  });

  it('shows the command that the sandbox names, and nothing for another id or another tool', () => {
    const { timeline } = applyEvents(
      openView(snapshotOf(0)),
      logOf([action('a', { kind: 'TerminalAction', command: 'npm ci' }), view('b', '/workspace/project/a.ts')]),
    ).view;
    expect(commandOf(timeline.rows, idOf(1))).toEqual({ kind: 'action', seq: 1, line: 'npm ci' });
    expect([idOf(2), idOf(9), null].map((id) => commandOf(timeline.rows, id))).toEqual([null, null, null]);
  });

  it('knows an answer that came too late and one that another user has to give', () => {
    expect(
      ['egress.already-answered', 'conversation.four-eyes', 'permission.denied', 'service.unavailable'].map(refusalOf),
    ).toEqual(['answered', 'four-eyes', 'other', 'other']);
  });
});

describe('the words of a request', () => {
  it('name host, user, scope and reason', () => {
    expect(
      [
        asked(),
        allowed(),
        allowed({ scope: 'conversation' }),
        allowed({ scope: 'organization' }),
        allowed({ state: 'denied', scope: 'conversation' }),
        allowed({ state: 'denied', scope: 'conversation', reason: 'use the mirror', decidedBy: null }),
        asked({ state: 'expired' }),
      ].map((request) => egressWords(t, request)),
    ).toEqual([
      'The sandbox asks for api.example.com:443',
      'api.example.com:443 was allowed once by Ada',
      'api.example.com:443 was allowed for this conversation by Ada',
      'api.example.com:443 was allowed for the organization by Ada',
      'api.example.com:443 was refused by Ada',
      'api.example.com:443 was refused by an unknown user: use the mirror',
      'No one answered for api.example.com:443',
    ]);
  });

  it('keep punycode, spell out what is not seen, and end', () => {
    expect(hostText(asked({ host: 'xn--pple-43d.com' }))).toBe('xn--pple-43d.com:443');
    expect(hostText(asked({ host: '2606:4700::1111' }))).toBe('[2606:4700::1111]:443');
    expect(hostText(asked({ host: 'a\u202emoc.b' }))).toBe('a⟨U+202E⟩moc.b:443');
    expect(hostText(asked({ host: 'a'.repeat(9_000) })).length).toBeLessThan(310);
  });
});

describe('what a log says of a request', () => {
  const known = allowed();

  it('is on record where the server says the same, or nothing yet', () => {
    expect(isOnRecord(allowed(), [known])).toBe(true);
    expect(isOnRecord(asked(), [known])).toBe(true);
    expect(isOnRecord(asked(), undefined)).toBe(true);
  });

  it('is not where the sandbox made it up: another id, host, port, answer, name or reason', () => {
    expect(isOnRecord(asked(), [])).toBe(false);
    for (const change of [
      { id: 'egq_2' },
      { host: 'evil.example' },
      { port: 22 },
      { state: 'denied' },
      { scope: 'organization' },
      { decidedBy: 'Grace' },
      { reason: 'fine by all' },
    ] as const satisfies ReadonlyArray<Partial<EgressRequest>>)
      expect(isOnRecord(allowed(change), [known])).toBe(false);
    expect(isOnRecord(allowed(), [asked()])).toBe(false);
  });
});

describe('a request in the timeline', () => {
  const log = logOf([
    action('a', { kind: 'TerminalAction', command: 'npm ci' }),
    update('egress_request', asked({ actionId: idOf(1) })),
    answer(1, 'a', { kind: 'TerminalObservation' }),
    update('egress_request', allowed({ reason: 'for the build' })),
    update('egress_request', { host: 'nonsense' }),
  ]);
  const { view: state } = applyEvents(openView(snapshotOf(0)), log);

  it('is a row when it is asked and one when it is answered; the last event says when to read the list', () => {
    expect(state.timeline.rows).toMatchObject([
      { kind: 'steps' },
      { kind: 'egress', seq: 2, request: { state: 'waiting' } },
      { kind: 'egress', seq: 4, request: { state: 'allowed' } },
    ]);
    expect(state.egressAt).toBe(4);
  });

  it('has a name for who hears it, and is found by host and reason', () => {
    const words = { t, reader: undefined, paths: workspacePaths(null) };
    const [, row] = state.timeline.rows;
    expect(row && rowName(row, words)).toMatch(/^Slipway, \d\d:\d\d, The sandbox asks for api\.example\.com:443$/);
    expect(matchesIn(state.timeline.rows, 'api.example.com:443').map(({ seq }) => seq)).toEqual([2, 4]);
    expect(matchesIn(state.timeline.rows, 'for the build').map(({ seq }) => seq)).toEqual([4]);
  });
});
