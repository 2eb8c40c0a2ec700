import { describe, expect, it } from '@jest/globals';
import type { DeskApproval, DeskConversation } from '@slipway/contracts/conversations';
import { NO_MARKS } from '@slipway/domain/desk';
import { alikeOf, groupsOf, MOST_UNGROUPED } from './desk-groups.ts';
import type { DeskLine } from './desk-store.ts';

const REPOSITORY = 'https://git.example/a.git';

/** A row that asks for a command. */
function asking(id: string, more: Partial<DeskApproval> = {}, repository: string | null = REPOSITORY): DeskLine {
  const approval = { actionId: id, tool: 'terminal', text: 'npm test', risk: 'LOW', actions: 1, ...more };
  return {
    facts: { id, repository, approval } as DeskConversation,
    mark: NO_MARKS,
    mayDecide: 'yes',
    group: 'needs-you',
    decisions: [{ kind: 'approve', key: `approve:${id}`, seconds: 6, score: 1 }],
  };
}
const ids = (lines: readonly DeskLine[]) => lines.map(({ facts }) => facts.id);

describe('the decisions of a Desk', () => {
  it('are one list while a person can read it', () => {
    const lines = Array.from({ length: MOST_UNGROUPED }, (_, index) => asking(String(index), {}, `r${index % 3}`));
    expect(groupsOf(lines)).toEqual([{ repository: null, lines }]);
  });

  it('are grouped by repository when there are more, the dearest first, none left out', () => {
    const lines = Array.from({ length: MOST_UNGROUPED + 1 }, (_, index) =>
      asking(String(index), {}, ['b', null, 'a'][index % 3] ?? null),
    );
    const groups = groupsOf(lines);
    expect(groups.map(({ repository }) => repository)).toEqual(['b', null, 'a']);
    expect(groups.flatMap((group) => ids(group.lines)).sort()).toEqual(ids(lines).sort());
    expect(ids(groups[0]?.lines ?? []).slice(0, 3)).toEqual(['0', '3', '6']);
  });
});

describe('one answer for requests that are alike', () => {
  it('is for the same command of the same repository and risk', () => {
    const line = asking('1');
    expect(ids(alikeOf(line, [line, asking('2'), asking('3')]))).toEqual(['2', '3']);
  });

  it('is never for what an agent made to look alike, a rule keeps from this user, or is not in sight whole', () => {
    const line = asking('1');
    const others = [
      asking('space', { text: 'npm test ' }),
      asking('bidi', { text: 'npm test\u202e' }),
      asking('risk', { risk: 'HIGH' }),
      asking('tool', { tool: 'browser' }),
      asking('more', { actions: 2 }),
      asking('elsewhere', {}, 'https://git.example/b.git'),
      asking('nowhere', {}, null),
      { ...asking('eyes'), mayDecide: 'four-eyes' as const },
    ];
    expect(alikeOf(line, [line, ...others])).toEqual([]);
    const long = 'x'.repeat(500);
    expect(alikeOf(asking('1', { text: long }), [asking('2', { text: long })])).toEqual([]);
  });
});
