'use client';
import type { LlmProfile } from '@slipway/contracts/models';
import { ConfirmDialog, IconButton, Menu, MenuItem } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { ProfileDialog } from './profile-form.tsx';

export function ProfileActions({ profile, onChanged }: { profile: LlmProfile; onChanged: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDoing(null);
  const done = (said: string) => {
    toast(said);
    close();
    onChanged();
  };
  const remove = useMutation({
    mutationFn: () => api.deleteLlmProfile({ org: org.id, profile: profile.id }),
    onSuccess: () => done(t('common.isDeleted', { name: profile.name })),
  });
  const makeDefault = useMutation({
    mutationFn: () => api.updateLlmProfile({ org: org.id, profile: profile.id, body: { default: !profile.default } }),
    onSuccess: () =>
      done(
        profile.default
          ? t('adminModels.isNoLongerTheDefault', { name: profile.name })
          : t('adminModels.isTheDefaultForNew', { name: profile.name }),
      ),
    onError: (error) => toast(failureOf(error).title),
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton label={t('common.actionsOf', { name: profile.name })}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setDoing('edit')}>{t('adminModels.edit')}</MenuItem>
        <MenuItem onSelect={() => makeDefault.mutate()}>
          {profile.default ? t('adminModels.removeAsDefault') : t('adminModels.makeDefault')}
        </MenuItem>
        <MenuItem className="text-bad" onSelect={() => setDoing('delete')}>
          {t('common.delete')}
        </MenuItem>
      </Menu>
      {doing === 'edit' ? (
        <ProfileDialog
          profile={profile}
          onClose={close}
          onDone={({ name }) => done(t('adminModels.updatedConversationsUseItAt', { name }))}
        />
      ) : null}
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || close()}
        title={t('common.delete3', { name: profile.name })}
        confirmLabel={t('common.delete2')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t('adminModels.conversationsThatUseItCannot')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </>
  );
}
