'use client';
import { Button, ConfirmDialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** Leaves the organization, after having said what ends. */
export function LeaveButton() {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const { drop } = useMyOrgs();
  const [asking, setAsking] = useState(false);
  const leave = useMutation({
    mutationFn: () => api.leaveOrg({ org: org.id }),
    onSuccess: async () => {
      router.replace('/');
      toast.success(t('adminMembers.youHaveLeft', { name: org.name }));
      await drop(org.id);
    },
  });
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <LogOut aria-hidden /> {t('adminMembers.leave')}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          leave.reset();
        }}
        title={t('adminMembers.leave2', { name: org.name })}
        confirmLabel={t('adminMembers.leave')}
        busy={leave.isPending}
        onConfirm={() => leave.mutate()}
      >
        <p>{t('adminMembers.youLoseAccessToImmediately', { name: org.name })}</p>
        <p>{t('adminMembers.yourApiKeysForIt')}</p>
        <ErrorNotice error={leave.error} />
      </ConfirmDialog>
    </>
  );
}
