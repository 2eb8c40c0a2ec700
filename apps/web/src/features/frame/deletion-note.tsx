'use client';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { asAhead } from '../../browser/ago.tsx';
import { useSession } from '../session/me.ts';
import { useMyOrgs } from '../session/my-orgs.ts';

/**
 * On every page of an organization that waits for its deletion: until when it can be taken back, and the button for it.
 */
export function DeletionNote() {
  const t = useTranslations();
  const { org } = useSession();
  const { put } = useMyOrgs();
  const restore = useMutation({
    mutationFn: () => api.restoreOrg({ org: org.id }),
    onSuccess: async (answer) => {
      await put(answer);
      toast.success(t('frame.isRestoredMembersHaveAccess', { name: org.name }));
    },
    onError: (error) => {
      const failure = failureOf(error);
      toast.error([failure.title, failure.detail, failure.nextStep].filter(Boolean).join('. '));
    },
  });
  if (org.deletesAt === null) return null;
  return (
    <section
      aria-label={t('frame.deletion')}
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-bad-soft px-4 py-1.5 text-sm text-bad"
    >
      <TriangleAlert aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1">
        {t.rich('frame.willBeDeletedOnlyOwners', { name: org.name, deletesAt: org.deletesAt, ahead: asAhead })}
      </p>
      {org.permissions.includes('org:delete') ? (
        <Button size="small" busy={restore.isPending} onClick={() => restore.mutate()}>
          {t('frame.restore')}
        </Button>
      ) : null}
    </section>
  );
}
