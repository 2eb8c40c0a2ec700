'use client';
import { Button, type ButtonProps } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { ErrorNotice } from '../form/form-failure.tsx';
import { switchAccount } from './sign-out.ts';

/** Signs out, here and at the sign-in service, then signs in again and comes back to this page. */
export function SwitchAccountButton({ tone = 'plain' }: Pick<ButtonProps, 'tone'>) {
  const t = useTranslations();
  const leave = useMutation({ mutationFn: switchAccount });
  return (
    <>
      <ErrorNotice error={leave.error} />
      <Button tone={tone} size="large" busy={leave.isPending || leave.isSuccess} onClick={() => leave.mutate()}>
        {t('session.useAnotherAccount')}
      </Button>
    </>
  );
}
