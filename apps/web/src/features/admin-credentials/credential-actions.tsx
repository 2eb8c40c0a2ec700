'use client';
import type { Credential } from '@slipway/contracts/credentials';
import { ConfirmDialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { CredentialDialog } from './credential-form.tsx';
import { CredentialUsesDialog } from './credential-uses.tsx';

/** Edits a credential, or revokes it. */
export function CredentialActions({ credential, onChanged }: { credential: Credential; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const { name } = credential;
  const [doing, setDoing] = useState<'edit' | 'uses' | 'revoke' | null>(null);
  const done = (words: string) => {
    toast(words);
    setDoing(null);
    onChanged();
  };
  const revoke = useMutation({
    mutationFn: () => api.deleteCredential({ org: org.id, credential: credential.id }),
    onSuccess: () => done(t('adminCredentials.revoked', { name })),
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>{t('adminCredentials.edit')}</MenuItem>
        <MenuItem onSelect={() => setDoing('uses')}>{t('adminCredentials.uses')}</MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('revoke')}>
          {t('adminCredentials.revokeNow')}
        </MenuItem>
      </Menu>
      {doing === 'edit' ? (
        <CredentialDialog
          credential={credential}
          onClose={() => setDoing(null)}
          onDone={() => done(t('adminCredentials.saved', { name }))}
        />
      ) : null}
      {doing === 'uses' ? <CredentialUsesDialog credential={credential} onClose={() => setDoing(null)} /> : null}
      <ConfirmDialog
        open={doing === 'revoke'}
        onOpenChange={(open) => open || setDoing(null)}
        title={t('adminCredentials.revoke', { name })}
        confirmLabel={t('adminCredentials.revoke2')}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        <p>{t('adminCredentials.revokeMeans')}</p>
        <ErrorNotice error={revoke.error} />
      </ConfirmDialog>
    </>
  );
}
