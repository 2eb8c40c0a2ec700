'use client';
import { type BulkEdit, type EditConversation, MAX_BULK } from '@slipway/contracts/conversations';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useMemo } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useSession } from '../session/me.ts';
import { undoToast } from '../undo/undo-toast.ts';

/** What can be done with several at once; each but a restore and a stop is taken back by another one. */
export type BulkAction = Exclude<Extract<BulkEdit, { ids: string[] }>['action'], 'tag'>;

const OPPOSITE = { archive: 'unarchive', unarchive: 'archive', delete: 'restore', restore: null, stop: null } as const;
const DONE = {
  archive: 'conversationEdits.archived',
  unarchive: 'conversationEdits.unarchived',
  delete: 'conversationEdits.deleted',
  restore: 'conversationEdits.restored',
  stop: 'conversationEdits.stopped',
} as const;

export interface Edits {
  /** Title, pin or tags of one. @returns whether it was done; why not, the user has read. */
  readonly edit: (id: string, body: EditConversation) => Promise<boolean>;
  readonly tag: (ids: readonly string[], add: string[]) => Promise<boolean>;
  /** Offers to take it back. @returns whether all of it was done. */
  readonly run: (action: BulkAction, ids: readonly string[], after?: (action: BulkAction) => void) => Promise<boolean>;
}

/** Changes conversations, says what was done or why not, and has lists read again. */
export function useEdits(): Edits {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  return useMemo(() => {
    const readAgain = () => queries.invalidateQueries({ queryKey: ['conversations', org.id] });
    const bulk = async (make: (ids: string[]) => BulkEdit, ids: readonly string[]): Promise<readonly string[]> => {
      const done: string[] = [];
      let why: string | null = null;
      try {
        for (let at = 0; at < ids.length; at += MAX_BULK) {
          const body = make(ids.slice(at, at + MAX_BULK));
          const { results } = await api.bulkEditConversations({ org: org.id, body });
          for (const { id, outcome, detail } of results) {
            if (outcome === 'done') done.push(id);
            else why = detail ?? t('conversationEdits.itFailed');
          }
        }
      } catch (error) {
        why = wordsOf(error);
      }
      if (why !== null) toast.error(t('conversationEdits.notChanged', { count: ids.length - done.length, why }));
      await readAgain();
      return done;
    };
    const run: Edits['run'] = async (action, ids, after) => {
      const done = await bulk((some) => ({ action, ids: some }), ids);
      if (done.length > 0) {
        const words = t(DONE[action], { count: done.length });
        const back = OPPOSITE[action];
        if (back === null) toast(words);
        else undoToast(t, words, () => void run(back, done, after));
        after?.(action);
      }
      return done.length === ids.length;
    };
    return {
      run,
      tag: async (ids, add) =>
        (await bulk((some) => ({ action: 'tag', ids: some, add, remove: [] }), ids)).length === ids.length,
      edit: async (id, body) => {
        try {
          await api.editConversation({ org: org.id, conversation: id, body });
          await readAgain();
          return true;
        } catch (error) {
          toast.error(t('conversationEdits.notChanged', { count: 1, why: wordsOf(error) }));
          return false;
        }
      },
    };
  }, [t, org.id, queries]);
}

function wordsOf(error: unknown): string {
  const { title, detail, nextStep } = failureOf(error);
  return [title, detail, nextStep].filter(Boolean).join(' ');
}
