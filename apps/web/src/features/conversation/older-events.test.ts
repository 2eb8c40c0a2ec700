import { describe, expect, it } from '@jest/globals';
import { type LoggedEvent } from '@slipway/contracts/events';
import fc from 'fast-check';
import { applyEvents, type ConversationView, openView, prependEvents, putApart } from './conversation-view.ts';
import { answer, edit, exit, logOf, message, snapshotOf, startStep, terminal, update, view } from './sample-events.ts';

const applyAll = (from: ConversationView, events: readonly LoggedEvent[]): ConversationView =>
  applyEvents(from, events).view;

describe('prependEvents', () => {
  it('gives the same rows for a log read in any pages from its end as for one read from its start', () => {
    const call = fc.constantFrom('t', 'v', 'e', 'm', 's', 'i', 'p');
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        (kinds, sizes, parallel) => {
          const log = logOf(agentWork(kinds, parallel));
          const whole = applyAll(openView(snapshotOf(0)), log);
          let paged = openView(snapshotOf(log.length));
          for (let index = 0; paged.firstSeq > 1; index += 1) {
            const size = sizes[index % sizes.length] ?? 1;
            paged = prependEvents(paged, log.slice(Math.max(0, paged.firstSeq - 1 - size), paged.firstSeq - 1));
          }
          expect(withoutFoldKeys(paged)).toEqual(withoutFoldKeys(whole));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the same rows when a stretch far above was read first and grew on both sides', () => {
    const call = fc.constantFrom('t', 'v', 'e', 'm', 's', 'i', 'p');
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 8, maxLength: 40 }),
        fc.array(fc.tuple(fc.constantFrom('above', 'after', 'before'), fc.integer({ min: 1, max: 6 })), {
          minLength: 1,
          maxLength: 20,
        }),
        fc.tuple(fc.nat(), fc.nat()),
        fc.boolean(),
        (kinds, reads, [from, length], parallel) => {
          const log = logOf(agentWork(kinds, parallel));
          const whole = applyAll(openView(snapshotOf(0)), log);
          const first = from % (log.length - 1);
          const last = first + 1 + (length % (log.length - 1 - first));
          let paged = putApart(openView(snapshotOf(log.length)), log.slice(first, last));
          for (let index = 0; paged.firstSeq > 1 || paged.apart !== null; index += 1) {
            const [where = 'above', size = 1] = reads[index % reads.length] ?? [];
            const below = paged.apart?.lastSeq ?? 0;
            const above = (paged.apart?.firstSeq ?? paged.firstSeq) - 1;
            const end = paged.firstSeq - 1;
            const page =
              paged.apart === null || (where === 'above' && above > 0)
                ? log.slice(Math.max(0, above - size), above)
                : where === 'before'
                  ? log.slice(Math.max(below, end - size), end)
                  : log.slice(below, Math.min(end, below + size));
            paged = prependEvents(paged, page);
          }
          expect(withoutFoldKeys(paged)).toEqual(withoutFoldKeys(whole));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps the key of a row that grows at its top, so that the reader stays where they are', () => {
    const log = logOf([view('c1', '/a'), view('c2', '/b')]);
    const tail = prependEvents(openView(snapshotOf(2)), log.slice(1));
    const whole = prependEvents(tail, log.slice(0, 1));
    expect(whole.timeline.rows).toMatchObject([{ key: tail.timeline.rows[0]?.key, steps: [{}, {}] }]);
  });

  it('changes nothing when the page does not end just below what is loaded', () => {
    const opened = openView(snapshotOf(10));
    const log = logOf(Array.from({ length: 10 }, () => message('user', 'x')));
    expect(prependEvents(opened, log.slice(0, 5))).toBe(opened);
    expect(prependEvents(opened, [])).toBe(opened);
    expect(prependEvents(opened, log.slice(4)).firstSeq).toBe(5);
  });

  it('never touches the status: the snapshot already speaks for those events', () => {
    const opened = openView(
      snapshotOf(2, { status: 'finished', executionStatus: 'finished', start: { status: 'READY', steps: [] } }),
    );
    expect(
      prependEvents(opened, logOf([startStep('ERROR', 'failed'), update('execution_status', 'running')])).status,
    ).toBe('finished');
  });
});

/** A folded row keeps the key under which it was first seen, and that depends on the pages. */
function withoutFoldKeys({ timeline }: ConversationView) {
  return {
    ...timeline,
    rows: timeline.rows.map((row) => (row.kind === 'steps' && row.steps.length > 1 ? { ...row, key: '' } : row)),
  };
}

/** What an agent would write: calls are answered, one after the other or two at a time. */
function agentWork(kinds: readonly string[], parallel: boolean): Parameters<typeof logOf>[0][number][] {
  const parts: Parameters<typeof logOf>[0][number][] = [];
  const open: { seq: number; call: string; kind: string }[] = [];
  const settle = () => {
    for (const { seq, call, kind } of open.splice(0))
      parts.push(
        kind === 't'
          ? exit(seq, call, 0)
          : kind === 'e'
            ? { kind: 'AgentErrorEvent', tool_name: 'tool', tool_call_id: call, error: 'no' }
            : answer(seq, call, { kind: 'FileEditorObservation', command: 'view' }),
      );
  };
  for (const [index, kind] of kinds.entries()) {
    const call = `c${index % 3}`;
    if (kind === 'm') parts.push(message('assistant', 'text'));
    else if (kind === 's') parts.push(startStep('WORKING', 'done', 1 + Math.floor(index / 15)));
    else if (kind === 'i') parts.push({ kind: 'InterruptEvent' });
    else if (kind === 'p') parts.push({ kind: 'PauseEvent' });
    else {
      parts.push(kind === 't' ? terminal(call, 'ls') : kind === 'v' ? view(call, '/a') : edit(call, '/a'));
      open.push({ seq: parts.length, call, kind });
      if (parallel && open.length < 2) continue;
    }
    settle();
  }
  return parts;
}
