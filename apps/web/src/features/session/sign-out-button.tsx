'use client';
import { Button } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import type { MessageKey } from '../../messages/translate.ts';
import { signOut } from './sign-out.ts';

/** Shown when the server could not be reached. */
export const STILL_SIGNED_IN: MessageKey = 'session.signOutFailedTheServer';

export function SignOutButton({ label, className }: { label?: string; className?: string }) {
  const t = useTranslations();
  return (
    <Button
      tone="quiet"
      className={className}
      onClick={() => void signOut().catch(() => toast.error(t(STILL_SIGNED_IN)))}
    >
      {label ?? t('common.signOut')}
    </Button>
  );
}
