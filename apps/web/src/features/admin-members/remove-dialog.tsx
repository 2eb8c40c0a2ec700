'use client';
import type { Member, MemberRemoval } from '@slipway/contracts/organizations';
import { ConfirmDialog } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { KnownCredentials } from './known-credentials.tsx';
import { RemovalWords } from './removal-words.tsx';

/** Removes a member, after having said what ends with them and what stays. */
export function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [revokeKeys, setRevokeKeys] = useState(false);
  const preview = useQuery<MemberRemoval>({
    queryKey: ['member-removal', org.id, member.userId],
    queryFn: ({ signal }) => api.previewMemberRemoval({ org: org.id, user: member.userId, signal }),
    // What runs changes by the second: it is asked for at each opening.
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: () =>
      api.removeMember({ org: org.id, user: member.userId, query: { revokeKnownKeys: revokeKeys ? 'true' : 'false' } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['members', org.id] });
      toast.success(t('adminMembers.removedFrom', { name: member.name, name2: org.name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('adminMembers.remove2', { name: member.name })}
      confirmLabel={t('adminMembers.remove3')}
      busy={remove.isPending}
      disabled={preview.data === undefined}
      onConfirm={() => remove.mutate()}
    >
      <p>{t('adminMembers.losesAccessToImmediatelyOn', { name: member.name, name2: org.name })}</p>
      <QueryPanel query={preview} label={t('adminMembers.whatEnds')}>
        {(removal) => (
          <>
            <RemovalWords removal={removal} />
            <KnownCredentials removal={removal} revokeKeys={revokeKeys} onRevokeKeys={setRevokeKeys} />
          </>
        )}
      </QueryPanel>
      <ErrorNotice error={remove.error} />
    </ConfirmDialog>
  );
}
