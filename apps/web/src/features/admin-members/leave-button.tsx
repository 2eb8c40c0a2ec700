'use client';
import { Button, ConfirmDialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** Leaves the organization, after having said what ends. */
export function LeaveButton() {
  const { org } = useSession();
  const router = useRouter();
  const { drop } = useMyOrgs();
  const [asking, setAsking] = useState(false);
  const leave = useMutation({
    mutationFn: () => api.leaveOrg({ org: org.id }),
    onSuccess: async () => {
      router.replace('/');
      toast.success(`You have left ${org.name}.`);
      await drop(org.id);
    },
  });
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <LogOut aria-hidden /> Leave
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          leave.reset();
        }}
        title={`Leave ${org.name}?`}
        confirmLabel="Leave"
        busy={leave.isPending}
        onConfirm={() => leave.mutate()}
      >
        <p>You lose {org.name} at once, and can come back only when somebody invites you.</p>
        <p>Your API keys for it end and your running sandboxes are paused. Your conversations stay with the organization.</p>
        <ErrorNotice error={leave.error} />
      </ConfirmDialog>
    </>
  );
}
