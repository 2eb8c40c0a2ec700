'use client';
import type { Member, MemberRemoval } from '@slipway/contracts';
import { ConfirmDialog } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
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
    mutationFn: () => api.removeMember({ org: org.id, user: member.userId, query: { revokeKnownKeys: revokeKeys ? 'true' : 'false' } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['members', org.id] });
      toast.success(`${member.name} was removed from ${org.name}.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Remove ${member.name}?`}
      confirmLabel="Remove"
      busy={remove.isPending}
      disabled={preview.data === undefined}
      onConfirm={() => remove.mutate()}
    >
      <p>
        {member.name} loses {org.name} at once, on every device, and can come back only when invited again.
      </p>
      <QueryPanel query={preview} label="What would end">
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
