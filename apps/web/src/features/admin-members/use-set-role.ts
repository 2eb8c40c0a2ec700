'use client';
import type { Member, Role } from '@slipway/contracts/organizations';
import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { ROLE_LABELS } from '../admin/roles.ts';
import type { Page } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { undoToast } from '../undo/undo-toast.ts';

interface Change {
  readonly member: Pick<Member, 'userId' | 'name'>;
  readonly from: Role;
  readonly to: Role;
  /** It takes a change back, and is not offered to be taken back itself. */
  readonly undoing?: true;
}

/** Gives a role. The list shows it at once; when the server refuses, the old role comes back with the reason. */
export function useSetRole(): (change: Change) => void {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const show = (userId: string, role: Role) =>
    queries.setQueriesData<InfiniteData<Page<Member>>>(
      { queryKey: ['members', org.id] },
      (list) =>
        list && {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            data: page.data.map((member) => (member.userId === userId ? { ...member, role } : member)),
          })),
        },
    );
  const set = useMutation({
    mutationFn: ({ member, from, to }: Change) =>
      api.updateMember({ org: org.id, user: member.userId, body: { role: to, expectedRole: from } }),
    onMutate: async ({ member, to }) => {
      await queries.cancelQueries({ queryKey: ['members', org.id] });
      show(member.userId, to);
    },
    onSuccess: (_answer, { member, from, to, undoing }) => {
      if (undoing) toast(t('adminMembers.isAgain', { name: member.name, role: t(ROLE_LABELS[to]) }));
      else
        undoToast(t, t('adminMembers.isNow', { name: member.name, role: t(ROLE_LABELS[to]) }), () =>
          set.mutate({ member, from: to, to: from, undoing: true }),
        );
    },
    onError: (error, { member, from }) => {
      show(member.userId, from);
      const failure = failureOf(error);
      toast.error(
        t('adminMembers.isStill', {
          name: member.name,
          role: t(ROLE_LABELS[from]),
          why: [failure.title, failure.detail, failure.nextStep].filter(Boolean).join(' '),
        }),
      );
      void queries.invalidateQueries({ queryKey: ['members', org.id] });
    },
  });
  return set.mutate;
}
