import { useCommand } from '../commands/command-context.tsx';
import type { AnswerHere } from './answer-here.ts';
import type { DeskLine } from './desk-store.ts';
import type { DeskChange } from './use-desk-marks.ts';

const LINKS = '[data-desk-line] a[data-opens]';
const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(LINKS)];
const lineOf = (element: Element | null): string | null =>
  element?.closest('[data-desk-line]')?.getAttribute('data-desk-line') ?? null;

/** The link of the row that has the focus; -1: none has. */
function place(all: readonly HTMLElement[]): number {
  const current = lineOf(document.activeElement);
  return current === null ? -1 : all.findIndex((link) => lineOf(link) === current);
}

function step(by: 1 | -1): void {
  const all = links();
  const at = place(all);
  all[at === -1 ? (by === 1 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
}

/** The keys of the Desk: they go from row to row, and take the one that has the focus off it. */
export function useDeskKeys(lines: readonly DeskLine[], change: (line: DeskLine, change: DeskChange) => void): void {
  const act = (what: DeskChange) => () => {
    const all = links();
    const at = place(all);
    const line = lines.find(({ facts, group }) => group === 'needs-you' && facts.id === lineOf(all[at] ?? null));
    if (line === undefined) return;
    // The row goes: its neighbour is next.
    (all[at + 1] ?? all[at - 1])?.focus();
    change(line, what);
  };
  const unfold =
    (...answers: readonly AnswerHere[]) =>
    () => {
      const all = links();
      const row = all[place(all)]?.closest('[data-desk-line]');
      row?.querySelector<HTMLElement>(answers.map((what) => `[data-unfolds="${what}"]`).join())?.click();
    };
  const any = lines.length > 0;
  const waits = lines.some(({ group }) => group === 'needs-you');
  useCommand('desk.next', any ? () => step(1) : null);
  useCommand('desk.previous', any ? () => step(-1) : null);
  useCommand('desk.approve', waits ? unfold('approve', 'allow') : null);
  useCommand('desk.reply', waits ? unfold('reply') : null);
  useCommand('desk.done', waits ? act('done') : null);
  useCommand('desk.snooze', waits ? act('hour') : null);
  useCommand('desk.snooze-tomorrow', waits ? act('tomorrow') : null);
  useCommand('desk.mute', waits ? act('mute') : null);
}
