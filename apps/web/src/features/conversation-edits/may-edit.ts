'use client';
import type { Conversation } from '@slipway/contracts/conversations';
import { useSession } from '../session/me.ts';

/** What this user may do: that of another user is deleted and restored with `conversation:delete` alone. */
export function useMayEdit(): {
  readonly mayEdit: boolean;
  readonly mayDelete: (conversation: Pick<Conversation, 'createdBy'>) => boolean;
} {
  const { me, org } = useSession();
  const mayEdit = org.permissions.includes('conversation:write');
  const all = org.permissions.includes('conversation:delete');
  return { mayEdit, mayDelete: ({ createdBy }) => mayEdit && (all || createdBy.id === me.id) };
}
