import { toast } from 'sonner';
import type { Translate } from '../../messages/translate.ts';

/** How long a change can be taken back from its toast. Milliseconds. */
const UNDO_MS = 8_000;

/** Says what was done, with a button that does the opposite. Never for money, a key, or what is deleted for good. */
export function undoToast(t: Translate, done: string, undo: () => void): void {
  toast(done, { duration: UNDO_MS, action: { label: t('undo.undo'), onClick: undo } });
}
