import type { SetDeskMark } from '@slipway/contracts/conversations';
import { keyOf } from '@slipway/domain/desk';
import { useTranslations } from 'next-intl';
import { useMemo } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useSession } from '../session/me.ts';
import { undoToast } from '../undo/undo-toast.ts';
import { useDeskStore } from './desk-context.tsx';
import type { DeskLine } from './desk-store.ts';
import { tomorrow } from './desk-words.ts';

const HOUR_MS = 3_600_000;

export type DeskChange = 'done' | 'hour' | 'tomorrow' | 'mute';

/** Takes a row off one's own Desk at once, and back when it could not be kept or the user says so. */
export function useDeskMarks(): (line: DeskLine, change: DeskChange) => void {
  const t = useTranslations();
  const { org } = useSession();
  const store = useDeskStore();
  return useMemo(() => {
    const set = async ({ facts: { id } }: DeskLine, body: SetDeskMark, before: DeskLine['mark']): Promise<boolean> => {
      store.mark({ conversationId: id, mark: { ...before, ...body } }, Date.now());
      try {
        await api.setDeskMark({ org: org.id, conversation: id, body });
        return true;
      } catch (error) {
        store.mark({ conversationId: id, mark: before }, Date.now());
        toast.error(failureOf(error).title);
        return false;
      }
    };
    return (line: DeskLine, change: DeskChange) => {
      const { mark } = line;
      const body = bodyOf(line, change);
      const { doneKey, snoozedUntil, muted } = mark;
      void set(line, body, mark).then((isKept) => {
        if (!isKept) return;
        const words = { title: line.facts.title };
        const said = t(
          change === 'done' ? 'deskPage.isDone' : change === 'mute' ? 'deskPage.isMuted' : 'deskPage.isSnoozed',
          words,
        );
        undoToast(t, said, () => void set(line, { doneKey, snoozedUntil, muted }, { ...mark, ...body }));
      });
    };
  }, [t, org.id, store]);
}

function bodyOf(
  { decisions }: DeskLine,
  change: DeskChange,
): { [Key in keyof SetDeskMark]: NonNullable<SetDeskMark[Key]> } {
  if (change === 'done') return { doneKey: keyOf(decisions) };
  if (change === 'mute') return { muted: true };
  return { snoozedUntil: change === 'hour' ? new Date(Date.now() + HOUR_MS).toISOString() : tomorrow(Date.now()) };
}
