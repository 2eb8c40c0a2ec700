'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { OrgSettingChoice } from '../form/org-setting-choice.tsx';
import { useSession } from '../session/me.ts';

/** What becomes of a connection that no rule is about. */
export function UnknownHosts() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  return (
    <OrgSettingChoice
      setting="egressUnknown"
      title={t('adminNetwork.unknownHosts')}
      description={t('adminNetwork.whenAHostIsNotListed')}
      choices={[
        { value: 'ask', label: t('adminNetwork.askAUser'), means: t('adminNetwork.askMeans') },
        { value: 'observe', label: t('adminNetwork.observe'), means: t('adminNetwork.observeMeans') },
        { value: 'refuse', label: t('adminNetwork.refuseAlways'), means: t('adminNetwork.refuseMeans') },
      ]}
      saved={t('adminNetwork.settingSaved')}
      onSaved={() => void queries.invalidateQueries({ queryKey: ['egress-rules', org.id] })}
    />
  );
}
