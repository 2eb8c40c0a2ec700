'use client';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';

/** Where people write to agents: that the organization keeps what they write. Nothing where it does not. */
export function PromptsKept() {
  const t = useTranslations();
  const { org } = useSession();
  const settings = useQuery({
    queryKey: ['org-settings', org.id],
    queryFn: ({ signal }) => api.getOrgSettings({ org: org.id, signal }),
    enabled: org.permissions.includes('setting:read'),
  });
  const days = settings.data?.promptLogDays ?? null;
  if (days === null) return null;
  return <p className="text-xs text-ink-muted">{t('promptLog.keepsPromptsAndAnswersFor', { name: org.name, days })}</p>;
}
