'use client';
import { Button, ConfirmDialog, Section } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/** Deletes it in 48 hours, after its name was typed. Taking that back is the note above every page. */
export function DeleteSection() {
  const t = useTranslations();
  const { org } = useSession();
  const { put } = useMyOrgs();
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteOrg({ org: org.id, body: { confirm: org.name } }),
    onSuccess: async (answer) => {
      await put(answer);
      setAsking(false);
    },
  });
  return (
    <Section title={t('adminDanger.deleteOrganization')} description={t('adminDanger.everyoneExceptOwnersLosesAccess')}>
      <div className="rounded-lg border border-line bg-surface p-4">
        {org.deletesAt === null ? (
          <Button
            tone="danger"
            className="h-auto min-h-8 max-w-full shrink py-1 break-words whitespace-normal touch:h-auto touch:min-h-11"
            onClick={() => setAsking(true)}
          >
            {t('adminDanger.delete', { name: org.name })}
          </Button>
        ) : (
          <p className="text-sm text-ink-muted">{t('adminDanger.thisOrganizationIsScheduledFor')}</p>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          remove.reset();
        }}
        title={t('common.delete3', { name: org.name })}
        confirmLabel={t('adminDanger.deleteOrganization')}
        typed={org.name}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t('adminDanger.immediatelyMembersLoseAccessApi')}</p>
        <p>{t('adminDanger.after48HoursConversationsSecrets')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </Section>
  );
}
