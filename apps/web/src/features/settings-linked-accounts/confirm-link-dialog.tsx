'use client';
import type { LinkedAccount } from '@slipway/contracts/identity';
import { Button, Dialog } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAhead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useMe } from '../session/me.ts';

/** Names both accounts before they are linked: who the provider says it is, and who is signed in here. */
export function ConfirmLinkDialog({
  link,
  onClose,
  onChanged,
}: {
  link: LinkedAccount;
  onClose: () => void;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const me = useMe().data;
  const confirm = useMutation({
    mutationFn: () => api.confirmLink({ link: link.id }),
    onSuccess: () => {
      toast(t('settingsLinkedAccounts.isLinked', { login: link.login }));
      onChanged();
      onClose();
    },
  });
  const giveUp = useMutation({
    mutationFn: () => api.deleteLinkedAccount({ link: link.id }),
    onSuccess: () => {
      onChanged();
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('settingsLinkedAccounts.linkThisAccount')}>
      <div className="flex flex-col gap-4 p-4">
        <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)]">
          <Account
            label={t('settingsLinkedAccounts.at', { providerName: link.providerName })}
            name={link.login}
            detail={t('settingsLinkedAccounts.id', { host: link.host, externalUserId: link.externalUserId })}
          />
          <ArrowRight aria-hidden className="size-4 self-center justify-self-center text-ink-muted max-sm:rotate-90" />
          <Account
            label={t('settingsLinkedAccounts.inSlipway')}
            name={me?.name ?? ''}
            detail={[me?.email, link.orgName].filter(Boolean).join(', ')}
          />
        </div>
        <p className="text-sm">
          {t('settingsLinkedAccounts.requestsByAtThenRun', {
            login: link.login,
            host: link.host,
            orgName: link.orgName,
          })}
        </p>
        {link.expiresAt === null ? null : (
          <p className="text-xs text-ink-muted">
            {t.rich('settingsLinkedAccounts.expires', { expiresAt: link.expiresAt, ahead: asAhead })}
          </p>
        )}
        <ErrorNotice error={confirm.error ?? giveUp.error} />
        <div className="flex justify-end gap-2">
          <Button busy={giveUp.isPending} onClick={() => giveUp.mutate()}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" busy={confirm.isPending} onClick={() => confirm.mutate()}>
            {t('settingsLinkedAccounts.link')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Account({ label, name, detail }: { label: string; name: string; detail: string }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-raised px-3 py-2">
      <p className="text-xs text-ink-muted">{label}</p>
      <p className="font-medium break-words">{name}</p>
      <p className="text-xs break-words text-ink-muted">{detail}</p>
    </div>
  );
}
